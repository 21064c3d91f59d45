"""Members of an organization on its account pages. pytest loads it as a plugin."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

import pytest

from tests.support.journeys.account_security import signed_in
from tests.support.oauth.relying_party import Person
from tests.support.organizations.members import Company
from tests.support.visitors.visitor import VisitedPage, Visitor


@dataclass
class Members:
    """An organization that Ada owns, with Bob as a member, and Ada's browser."""

    company: Company
    org: str
    visitor: Visitor
    bob: Person
    roles: dict[str, str]

    def open(self, path: str = "", **query: str) -> VisitedPage:
        return self.visitor.open(f"/organizations{path}" + (f"?{urlencode(query)}" if query else ""))

    def bobs(self, path: str) -> VisitedPage:
        return self.open(f"/members{path}", id=f"{self.org}-{self.bob.uid}")


@pytest.fixture
def members(company: Company, visitor: Visitor) -> Members:
    org = company.business.create("Globex Gardens")
    bob = company.world.person("bob@example.test")
    roles = {
        "Owner": company.join(company.ada, org, "Owner", "org:own"),
        "Editor": company.join(bob, org, "Editor"),
    }
    signed_in(visitor, company.ada, "/profile")
    return Members(company, org, visitor, bob, roles)
