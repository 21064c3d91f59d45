"""A link that invites several people to an organization, as an immutable value read from the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.identity.directory.organizations.invitations.invitation import AnyInvitation

ACTIVE, USED_UP = "active", "used_up"
DOMAINS: Final = "domains"
"""The member of a link's `facts` with the domains of the addresses that it admits; empty: any."""


@dataclass(frozen=True)
class InvitationLinkRecord(AnyInvitation):
    """An invitation of everyone who has the link, up to a number of people; its status is ACTIVE, USED_UP, EXPIRED or REVOKED."""

    uses: int
    max_uses: int | None

    @property
    def is_open(self) -> bool:
        return self.status == ACTIVE

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(self.facts.get(DOMAINS) or ())
