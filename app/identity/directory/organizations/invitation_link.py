"""A link that invites several people to an organization, as an immutable value read from the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from app.identity.directory.organizations.invitation import MANAGED, URL

ACTIVE, USED_UP = "active", "used_up"
DOMAINS: Final = "domains"
"""The member of a link's `facts` with the domains of the addresses that it admits; empty: any."""


@dataclass(frozen=True)
class InvitationLink:
    """An invitation of everyone who has the link, up to a number of people."""

    invitation_id: str
    org_id: str
    role_ids: tuple[str, ...]  # empty: the role of new members
    inviter_uid: str
    status: str  # ACTIVE, USED_UP, EXPIRED or REVOKED
    facts: dict[str, Any]
    created_at: datetime
    modified_at: datetime
    ends_at: datetime
    uses: int
    max_uses: int | None

    @property
    def is_open(self) -> bool:
        return self.status == ACTIVE

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(self.facts.get(DOMAINS) or ())

    @property
    def is_managed(self) -> bool:
        """Whether a member created it on the account pages, with no more than that member's permissions."""
        return self.facts.get(MANAGED) is True

    @property
    def url(self) -> str | None:
        """The page of an application that the link opens; None for the hosted page."""
        return self.facts.get(URL)
