"""Shared code of the domain pages of an organization: their rows, addresses and read calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract.organizations.pages import domain_pages
from app.hub.pages.organizations import managed_organization
from app.hub.pages.organizations.managed_organization import LIST, url_of
from app.hub.rendering.formatting import short_day
from app.hub.web.responses import redirect_to

PATH: Final = f"{LIST}/domains"


@dataclass(frozen=True)
class DomainRow:
    """A domain in the list. `key`: organization and domain, as addresses and forms name them."""

    key: str
    name: str
    record: str
    state: str = "pending"
    """verified, declared (by an administrator), contested (verified), pending, or the problem of a failed one."""
    day: str = ""
    """When it was verified, or looked up last."""
    is_in_use: bool = False

    @property
    def is_verified(self) -> bool:
        return self.state in ("verified", "declared", "contested")

    @property
    def is_awaited(self) -> bool:
        """Whether only the record is missing: no other organization has the domain."""
        return not self.is_verified and self.state != "verified_elsewhere"

    @property
    def group(self) -> int:
        """The group of the list: 0 for a problem to look into, 1 for a domain to verify, 2 for a verified one."""
        if self.state == "contested":
            return 0
        return 2 if self.is_verified else 1 if self.state == "pending" else 0

    @property
    def can_check(self) -> bool:
        """Whether the record can be looked up again; a domain that waits for it is verified instead."""
        return not self.is_awaited and self.state != "declared"

    @classmethod
    def of(cls, organization: str, view: domain_pages.OwnDomain) -> DomainRow:
        state = "declared" if view.is_declared else "verified" if view.is_verified else "pending"
        at = view.verified_at if view.is_verified else view.checked_at
        key, day = f"{organization}-{view.id}", short_day(at) if at else ""
        return cls(key, view.name, view.record, view.problem or state, day, view.is_in_use)

    @classmethod
    def samples_of_list(cls) -> tuple[DomainRow, ...]:
        """Return a domain in each state."""
        day, record = short_day("2026-11-12T10:00:00+00:00"), "gatehouse-domain-verification=" + "q7Kd0aXw" * 4
        return (
            cls("org_9-a", "globex.example", record, "verified", day, is_in_use=True),
            cls("org_9-b", "gardens.example", record),
            cls("org_9-c", "globex-gardens-international.example", record, "record_missing", day),
            cls("org_9-d", "globex.test", record, "record_lost", day),
            cls("org_9-e", "initech.example", record, "verified_elsewhere", day),
            cls("org_9-f", "plants.example", record, "contested", day),
            cls("org_9-g", "farms.example", record, "declared", day),
        )


def by_urgency(domains: Iterable[DomainRow]) -> tuple[DomainRow, ...]:
    """Return them by group: what an owner can look into first, contested ones before the others, then the newest."""

    def rank(domain: DomainRow) -> tuple[int, bool, bool]:
        return domain.group, domain.state == "verified_elsewhere", domain.state != "contested"

    newest_first = tuple(domains)[::-1]
    return tuple(sorted(newest_first, key=rank))


def read(organization: str) -> domain_pages.DomainsResponse:
    """Return the domains, as `managed_organization.read`."""
    return managed_organization.read(domain_pages.read, domain_pages.DomainsRequest(organization=organization or "-"))


def find(view: domain_pages.DomainsResponse, domain_id: str) -> DomainRow | None:
    return next((DomainRow.of(view.organization.id, domain) for domain in view.domains if domain.id == domain_id), None)


def to_list(organization: str, result: str = "") -> Response:
    """Redirect to the list; `result` is the key of the notice to show there."""
    return redirect_to(url_of(PATH, organization, **({"done": result} if result else {})))
