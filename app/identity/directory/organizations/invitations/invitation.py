"""Invitations to an organization, of one email address or shared, as immutable values read from the store.

A shared invitation admits everyone who has its address; the interface and the pages call it an invitation link.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

INVITED, ACCEPTED, EXPIRED, REVOKED = "invited", "accepted", "expired", "revoked"
ACTIVE, USED_UP = "active", "used_up"
"""What shared invitations have instead of INVITED and ACCEPTED."""
LIFETIME: Final = timedelta(days=7)
ACCEPTED_BY, DECLINED, URL, MANAGED, DOMAINS = "accepted_by", "declined", "url", "managed", "domains"
"""Members of an invitation's `facts`: the account that accepted it, whether its owner declined it, the page that its link opens, whether
a member invited on the account pages, and the domains of the addresses that a shared one admits."""


@dataclass(frozen=True)
class _Invitation:
    """What an invitation by email and a shared one have in common."""

    invitation_id: str
    org_id: str
    role_ids: tuple[str, ...]  # empty: the role of new members
    inviter_uid: str
    status: str  # EXPIRED and what a shared one adds are derived, whatever the column has
    facts: dict[str, Any]
    created_at: datetime
    modified_at: datetime
    ends_at: datetime

    @property
    def is_shared(self) -> bool:
        """Whether it invites everyone who has its address."""
        return self.addressee is None

    @property
    def addressee(self) -> str | None:
        """The invited address as entered; None for a shared one."""
        return None

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains of the addresses that a shared one admits; empty: any."""
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
class EmailInvitation(_Invitation):
    """An invitation of one email address to an organization."""

    email: str  # as entered
    email_key: str  # normalized
    resent_at: datetime | None

    @property
    def addressee(self) -> str:
        return self.email


@dataclass(frozen=True)
class SharedInvitation(_Invitation):
    """An invitation of everyone who has its address, up to a number of people; its status is ACTIVE, USED_UP, EXPIRED or REVOKED."""

    uses: int
    max_uses: int | None


AnyInvitation = EmailInvitation | SharedInvitation
