"""An invitation to an organization as an immutable value read from the store."""

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
class Invitation:
    """An invitation of one email address to an organization."""

    invitation_id: str
    org_id: str
    email: str  # as entered
    email_key: str  # normalized
    role_ids: tuple[str, ...]  # empty: the role of new members
    inviter_uid: str
    status: str  # EXPIRED is derived from `ends_at`, whatever the column has
    facts: dict[str, Any]
    created_at: datetime
    modified_at: datetime
    ends_at: datetime
    resent_at: datetime | None

    @property
    def is_open(self) -> bool:
        return self.status == INVITED

    @property
    def is_declined(self) -> bool:
        """Whether the invited person declined it, which revokes it."""
        return self.facts.get(DECLINED) is True

    @property
    def is_managed(self) -> bool:
        """Whether a member invited on the account pages, with no more than that member's permissions."""
        return self.facts.get(MANAGED) is True

    @property
    def url(self) -> str | None:
        """The page of an application that the link opens; None for the hosted page."""
        return self.facts.get(URL)
