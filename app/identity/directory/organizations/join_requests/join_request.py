"""Requests to join an organization, and offers to request it, as immutable values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.identity.directory.organizations.organization import OrganizationRecord

OPEN, APPROVED, DECLINED = "open", "approved", "declined"
PAUSE: Final = timedelta(days=30)
"""After a declined request, until the account can ask again."""


@dataclass(frozen=True)
class JoinRequestRecord:
    """A request of an account, by a domain of its verified addresses. There is one for each account and organization."""

    join_request_id: str
    uid: str
    org_id: str
    domain: str
    status: str
    created_at: datetime
    decided_at: datetime | None
    decided_by: str | None  # the manager's uid; None for a server of the tenant

    @property
    def is_open(self) -> bool:
        return self.status == OPEN

    @property
    def ends_at(self) -> datetime | None:
        """When a declined account can ask again; None: it can at any time."""
        return self.decided_at + PAUSE if self.status == DECLINED and self.decided_at is not None else None


@dataclass(frozen=True)
class ListedRequest:
    """A request with the account that asks."""

    request: JoinRequestRecord
    name: str  # first and last name; empty if unknown
    label: str  # email, username or phone


@dataclass(frozen=True)
class JoinOffer:
    """An organization that an account may ask to join. `until`: when it can ask again, after a declined request."""

    organization: OrganizationRecord
    is_requested: bool = False
    until: datetime | None = None
