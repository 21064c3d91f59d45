"""Invitations to an organization as immutable values read from the store; `invitation_link` has those for several people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

INVITED, ACCEPTED, EXPIRED, REVOKED = "invited", "accepted", "expired", "revoked"
LIFETIME: Final = timedelta(days=7)
ACCEPTED_BY, DECLINED, URL, MANAGED = "accepted_by", "declined", "url", "managed"
"""Members of an invitation's `facts`: the account that accepted it, whether its owner declined it, the page of its link, and whether
a member invited on the account pages."""


@dataclass(frozen=True)
class AnyInvitation:
    """What an invitation by email and a link for several people have in common."""

    invitation_id: str
    org_id: str
    role_ids: tuple[str, ...]  # empty: the role of new members
    inviter_uid: str
    status: str  # EXPIRED and what a link adds are derived, whatever the column has
    facts: dict[str, Any]
    created_at: datetime
    modified_at: datetime
    ends_at: datetime

    @property
    def is_managed(self) -> bool:
        """Whether a member made it on the account pages, with no more than that member's permissions."""
        return self.facts.get(MANAGED) is True

    @property
    def url(self) -> str | None:
        """The page of an application that the link opens; None for the hosted page."""
        return self.facts.get(URL)


@dataclass(frozen=True)
class InvitationRecord(AnyInvitation):
    """An invitation of one email address to an organization."""

    email: str  # as entered
    email_key: str  # normalized
    resent_at: datetime | None

    @property
    def is_open(self) -> bool:
        return self.status == INVITED

    @property
    def is_declined(self) -> bool:
        """Whether the invited person declined it, which revokes it."""
        return self.facts.get(DECLINED) is True
