"""An organization that people ask to join. pytest loads it as a plugin."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import pytest

from tests.support.accounts.mailbox import mails_to
from tests.support.oauth.relying_party import Person
from tests.support.organizations.management import PATH
from tests.support.organizations.members import OWN, Team
from tests.support.tenants.tenant_server import answered

DOMAIN = "globex.test"


@dataclass
class OpenOrganization:
    """A team whose organization has verified a domain, with approval and a role of new members; and a person of the domain."""

    team: Team
    role: str
    ada: Person

    def ask(self, person: Person | None = None, org: str = "") -> tuple[int, Any]:
        """Ask as a person; return the status and the error code, if any."""
        asking, browser = person or self.ada, self.team.company.world.browser()
        browser.address = f"198.51.100.{crc32(asking.uid.encode()) % 250}"  # sign-ins are limited by address
        answer = browser.signed_in(asking).send(
            "POST", f"{OWN}/ask", json.dumps({"Organization": org or self.team.org}).encode()
        )
        return answer.status_code, (answer.json or {}).get("ErrorCode")

    def joinable(self, person: Person | None = None) -> list[dict[str, Any]]:
        browser = self.team.company.world.browser().signed_in(person or self.ada)
        found: list[dict[str, Any]] = answered(browser.send("GET", OWN, b""))["Joinable"]
        return found

    def requests(self, **query: str) -> list[dict[str, Any]]:
        """Return the requests as the tenant's server sees them."""
        found: list[dict[str, Any]] = answered(
            self.team.company.business.send("GET", f"{PATH}/{self.team.org}/joinrequests", **query)
        )["Data"]
        return found

    def open_request(self, person: Person | None = None) -> str:
        """Ask, which must succeed, and return the id of the request."""
        assert self.ask(person) == (200, None)
        uid = (person or self.ada).uid
        return str(next(request["Id"] for request in self.requests(status="open", page="1") if request["Uid"] == uid))

    def decide(self, name: str, request: str, *, is_approved: bool = True, org: str = "") -> tuple[int, Any]:
        """Decide as one of the team."""
        members = {"Request": request, **({"Organization": org} if org else {})}
        return self.team.send(name, f"/requests/{'approve' if is_approved else 'decline'}", **members)

    def set_policy(self, **policies: Any) -> None:
        answered(self.team.company.business.send("PUT", f"{PATH}/{self.team.org}/policy", policies))

    def subjects(self, address: str) -> list[str]:
        """Return the subjects of the emails to an address, without the tenant's name."""
        world = self.team.company.world
        return [
            str(item["subject"]).partition(" on T")[0] for item in mails_to(world.services, world.tenant_id, address)
        ]


@pytest.fixture
def open_org(team: Team) -> OpenOrganization:
    business = team.company.business
    role = business.role("Member", org=team.org)
    domains = {"Domains": [{"DomainName": DOMAIN, "IsVerified": True}]}
    answered(business.send("PUT", f"{PATH}/{team.org}", domains))
    made = OpenOrganization(team, role, team.company.world.person(f"ada@{DOMAIN}"))
    made.set_policy(JITPolicy={"RequireApproval": True}, MemberPolicy={"DefaultMemberRole": role})
    return made


def names_of(open_org: OpenOrganization, person: Person | None = None) -> list[str]:
    """Return the organizations that a person belongs to."""
    browser = open_org.team.company.world.browser().signed_in(person or open_org.ada)
    return [item["Name"] for item in answered(browser.send("GET", OWN, b""))["Organizations"]]


def by_server(open_org: OpenOrganization, request: str, decision: str = "approve", org: str = "") -> Any:
    return open_org.team.company.business.send(
        "POST", f"{PATH}/{org or open_org.team.org}/joinrequests/{request}/{decision}"
    )
