"""Registration with an invitation to an organization (interface user.md operation U01, organizations.md section 8)."""

from __future__ import annotations

import pytest

from tests.support.accounts.mailbox import mails_to
from tests.support.accounts.registering import UNLIMITED, register
from tests.support.organizations.invitations import GUEST, Inviting, inviting
from tests.support.organizations.management import OFF
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

MINE = [{"Type": "Primary", "Value": "Ada@example.com"}]


@pytest.fixture
def one(new_tenant_server: NewTenantServer) -> Inviting:
    stored = inviting(new_tenant_server, limits=UNLIMITED)
    stored.invite()
    return stored


def test_invited_person_registers_verified_and_joins(one: Inviting) -> None:
    sent = len(mails_to(one.tenant.services, one.tenant.tenant_id, GUEST))
    query = {"invitation_token": one.token()}
    data = answered(register(one.tenant, Email=MINE, query=query))["Data"]
    assert data["Profile"]["EmailVerified"] is True
    assert [role["RoleId"] for role in one.members() if role["Uid"] == data["Profile"]["Uid"]] == [one.member_role]
    assert len(mails_to(one.tenant.services, one.tenant.tenant_id, GUEST)) == sent
    other = [{"Type": "Primary", "Value": "eve@example.com"}]
    assert refused(register(one.tenant, Email=other, query=query)) == (400, 8175)


@pytest.mark.parametrize(
    "emails",
    [[{"Type": "Primary", "Value": "eve@example.com"}], [*MINE, {"Type": "Other", "Value": "eve@example.com"}]],
)
def test_other_addresses_register_nothing(one: Inviting, emails: list[dict[str, str]]) -> None:
    assert refused(register(one.tenant, Email=emails, query={"invitation_token": one.token()})) == (400, 8137)
    assert one.send("GET", "/identity/v2/manage/account", email="eve@example.com").status_code != 200
    assert len(one.members()) == 1


def test_closed_invitation_registers_nothing(one: Inviting) -> None:
    query = {"invitation_token": one.token()}
    one.set_policy(MemberPolicy={"Seats": 1})
    assert refused(register(one.tenant, Email=MINE, query=query)) == (403, 8188)
    one.deactivate(one.org)
    assert refused(register(one.tenant, Email=MINE, query=query)) == (403, 8180)
    assert refused(register(one.tenant, Email=MINE, query={"invitation_token": "any"})) == (400, 8175)
    one.tenant.change_settings(**OFF)
    assert refused(register(one.tenant, Email=MINE, query=query)) == (400, 8175)
    assert one.send("GET", "/identity/v2/manage/account", email=GUEST).status_code != 200
