"""Invitations of a tenant's server, and the links that were mailed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import mails_to
from tests.support.organizations.management import Business
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

PATH = "/v2/manage/invitations"
BULK, LINKS = f"{PATH}/bulk", f"{PATH}/links"
LOOK_UP, ACCEPT = "/identity/v2/auth/invitation", "/identity/v2/auth/invitation/accept"
NO_INVITATION = f"inv_{'0' * 16}"
GUEST = "ada@example.com"


@dataclass
class InvitingBusiness(Business):
    """A tenant whose organization has a member, Grace, who invites."""

    links: dict[str, str] = field(default_factory=dict)

    @cached_property
    def member_role(self) -> str:
        return self.role("Editor")

    @cached_property
    def grace(self) -> str:
        uid = str(self.tenant.create(FirstName="Grace", LastName="Hopper")["Uid"])
        answered(self.assign(uid, self.org, self.member_role))
        return uid

    def body(self, **members: Any) -> dict[str, Any]:
        """Return the body of a valid invitation with some members changed; None leaves a member out."""
        body = {"email": GUEST, "roleIds": [self.member_role], "orgId": self.org, "inviterUid": self.grace, **members}
        return {name: value for name, value in body.items() if value is not None}

    def ask(self, url: str | None = None, **members: Any) -> TestResponse:
        return self.send("POST", PATH, self.body(**members), invitation_url=url)

    def invite(self, email: str = GUEST, url: str | None = None, **members: Any) -> dict[str, Any]:
        """Invite, which must succeed."""
        return answered(self.ask(url, email=email, **members))

    def many(self, *people: Any, **members: Any) -> TestResponse:
        """Invite several people: addresses, or bodies of one each."""
        listed = [{"email": person} if isinstance(person, str) else person for person in people]
        body = {
            "invitations": listed, "roleIds": [self.member_role], "orgId": self.org, "inviterUid": self.grace, **members,
        }  # fmt: skip
        return self.send("POST", BULK, body)

    def ask_link(self, url: str | None = None, **members: Any) -> TestResponse:
        body = {"roleIds": [self.member_role], "orgId": self.org, "inviterUid": self.grace, **members}
        values = {name: value for name, value in body.items() if value is not None}
        return self.send("POST", LINKS, values, invitation_url=url)

    def link(self, url: str | None = None, **members: Any) -> dict[str, Any]:
        """Create a link for several people, which must succeed."""
        return answered(self.ask_link(url, **members))

    def mail(self, email: str = GUEST) -> dict[str, Any]:
        """Return the last mail to an address."""
        return mails_to(self.tenant.services, self.tenant.tenant_id, email)[-1]

    def token(self, email: str = GUEST) -> str:
        """Return the token of the last mailed link."""
        return token_in(self.mail(email))

    def guest(self, email: str = GUEST, *, is_verified: bool = True) -> str:
        """Create an account with this address and return its access token."""
        made = self.tenant.create(Email=[{"Type": "Primary", "Value": email}], EmailVerified=is_verified)
        return str(self.tenant.tokens(made["Uid"])["access_token"])

    def accept(self, token: str, bearer: str) -> TestResponse:
        return self.tenant.send("PUT", ACCEPT, {"invitation_token": token}, bearer=bearer)

    def members(self, org: str = "") -> list[dict[str, Any]]:
        """Return the roles of the members of the organization."""
        found: list[dict[str, Any]] = answered(
            self.send("GET", f"/v2/manage/organizations/{org or self.org}/orgcontext")
        )["Data"]
        return found

    def wait(self, **time: float) -> None:
        """Move the clock on by a `timedelta`'s keywords."""
        pass_time(self.tenant.services, **time)

    def set_policy(self, **policies: Any) -> None:
        answered(self.send("PUT", f"/v2/manage/organizations/{self.org}/policy", policies))


def token_in(mail: dict[str, Any]) -> str:
    """Return the token of the link in the text of an invitation."""
    line = next(item for item in str(mail["text"]).splitlines() if item.startswith("http"))
    return line.rpartition("invitation_token=")[2] if "invitation_token=" in line else line.rpartition("/")[2]


def inviting_business(make: NewTenantServer | TenantServer, **settings: Any) -> InvitingBusiness:
    return InvitingBusiness(make if isinstance(make, TenantServer) else make(**settings))
