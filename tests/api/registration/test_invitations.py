"""Registration with an invitation to an organization."""

from __future__ import annotations

import pytest

from tests.support.accounts.mailbox import mails_to
from tests.support.accounts.registering import UNLIMITED, register
from tests.support.organizations.invitations import GUEST, InvitingBusiness, inviting_business
from tests.support.organizations.management import OFF
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

MINE = [{"Type": "Primary", "Value": "Ada@example.com"}]


@pytest.fixture
def inviter(new_tenant_server: NewTenantServer) -> InvitingBusiness:
    stored = inviting_business(new_tenant_server, limits=UNLIMITED)
    stored.invite()
    return stored


def test_invited_person_registers_verified_and_joins(inviter: InvitingBusiness) -> None:
    sent = len(mails_to(inviter.tenant.services, inviter.tenant.tenant_id, GUEST))
    query = {"invitation_token": inviter.token()}
    data = answered(register(inviter.tenant, Email=MINE, query=query))["Data"]
    assert data["Profile"]["EmailVerified"] is True
    assert [role["RoleId"] for role in inviter.members() if role["Uid"] == data["Profile"]["Uid"]] == [
        inviter.member_role
    ]
    assert len(mails_to(inviter.tenant.services, inviter.tenant.tenant_id, GUEST)) == sent
    other = [{"Type": "Primary", "Value": "eve@example.com"}]
    assert refused(register(inviter.tenant, Email=other, query=query)) == (400, 8175)


@pytest.mark.parametrize(
    "emails",
    [[{"Type": "Primary", "Value": "eve@example.com"}], [*MINE, {"Type": "Other", "Value": "eve@example.com"}]],
)
def test_other_addresses_register_nothing(inviter: InvitingBusiness, emails: list[dict[str, str]]) -> None:
    assert refused(register(inviter.tenant, Email=emails, query={"invitation_token": inviter.token()})) == (400, 8137)
    assert inviter.send("GET", "/identity/v2/manage/account", email="eve@example.com").status_code != 200
    assert len(inviter.members()) == 1


def test_closed_invitation_registers_nothing(inviter: InvitingBusiness) -> None:
    query = {"invitation_token": inviter.token()}
    inviter.set_policy(MemberPolicy={"Seats": 1})
    assert refused(register(inviter.tenant, Email=MINE, query=query)) == (403, 8188)
    inviter.deactivate(inviter.org)
    assert refused(register(inviter.tenant, Email=MINE, query=query)) == (403, 8180)
    assert refused(register(inviter.tenant, Email=MINE, query={"invitation_token": "any"})) == (400, 8175)
    inviter.tenant.change_settings(**OFF)
    assert refused(register(inviter.tenant, Email=MINE, query=query)) == (400, 8175)
    assert inviter.send("GET", "/identity/v2/manage/account", email=GUEST).status_code != 200
