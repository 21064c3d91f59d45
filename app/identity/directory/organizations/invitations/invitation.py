"""Invitations to an organization, by email or by a link for several people, as immutable values read from the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

INVITED, ACCEPTED, EXPIRED, REVOKED = "invited", "accepted", "expired", "revoked"
ACTIVE, USED_UP = "active", "used_up"
"""What links have instead of INVITED and ACCEPTED."""
LIFETIME: Final = timedelta(days=7)
ACCEPTED_BY, DECLINED, URL, MANAGED, DOMAINS = "accepted_by", "declined", "url", "managed", "domains"
"""Members of an invitation's `facts`: the account that accepted it, whether its owner declined it, the page of its link, whether
a member invited on the account pages, and the domains of the addresses that a link admits."""


@dataclass(frozen=True)
class _Invitation:
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
    def is_link(self) -> bool:
        """Whether it invites everyone who has the link."""
        return self.addressee is None

    @property
    def addressee(self) -> str | None:
        """The invited address as entered; None for a link."""
        return None

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains of the addresses that a link admits; empty: any."""
        return tuple(self.facts.get(DOMAINS) or ())

    @property
    def is_open(self) -> bool:
        return self.status in (INVITED, ACTIVE)

    @property
    def is_declined(self) -> bool:
        """Whether the invited person declined it, which revokes it."""
        return self.facts.get(DECLINED) is True

    @property
    def is_managed(self) -> bool:
        """Whether a member made it on the account pages, with no more than that member's permissions."""
        return self.facts.get(MANAGED) is True

    @property
    def url(self) -> str | None:
        """The page of an application that the link opens; None for the hosted page."""
        return self.facts.get(URL)


@dataclass(frozen=True)
class InvitationRecord(_Invitation):
    """An invitation of one email address to an organization."""

    email: str  # as entered
    email_key: str  # normalized
    resent_at: datetime | None

    @property
    def addressee(self) -> str:
        return self.email


@dataclass(frozen=True)
class InvitationLinkRecord(_Invitation):
    """An invitation of everyone who has the link, up to a number of people; its status is ACTIVE, USED_UP, EXPIRED or REVOKED."""

    uses: int
    max_uses: int | None


AnyInvitation = InvitationRecord | InvitationLinkRecord
