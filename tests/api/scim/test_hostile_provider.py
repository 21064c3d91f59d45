"""What an identity provider may not do by SCIM, although its token is valid."""

from __future__ import annotations

import pytest

from tests.support.organizations.management import Business, a_business
from tests.support.scim.connected import DOMAIN, ScimClient, connect_organization
from tests.support.tenants.tenant_server import NewTenantServer, answered

pytestmark = pytest.mark.both_databases
ACCOUNT = "/identity/v2/manage/account"
OFF = {"op": "replace", "path": "active", "value": False}
ON = {"op": "replace", "path": "active", "value": True}


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


@pytest.fixture
def globex(business: Business) -> ScimClient:
    return connect_organization(business)


def is_active(business: Business, uid: str) -> bool:
    return bool(business.tenant.read(uid)["IsActive"])


@pytest.mark.parametrize("former", [False, None, True])
def test_block_of_the_tenant_outlives_a_reactivation(
    former: bool | None, globex: ScimClient, business: Business
) -> None:
    """The tenant blocks the account before, during or after a deactivation by the identity provider."""
    uid = str(globex.create("mina")["id"])
    if former is False:
        answered(business.send("PUT", f"{ACCOUNT}/{uid}", {"IsActive": False}))
    globex.patch(f"/Users/{uid}", OFF)
    if former is True:
        answered(business.send("PUT", f"{ACCOUNT}/{uid}", {"IsActive": True}))
    if former is not False:
        answered(business.send("PUT", f"{ACCOUNT}/{uid}", {"IsActive": False}))
    assert globex.patch(f"/Users/{uid}", ON).status_code == 200
    assert not is_active(business, uid)


def test_deleted_person_created_again_can_sign_in(globex: ScimClient, business: Business) -> None:
    uid = str(globex.create("mina")["id"])
    assert globex.send("DELETE", f"/Users/{uid}").status_code == 204
    assert not is_active(business, uid)
    assert globex.create("mina")["id"] == uid
    assert is_active(business, uid)
    globex.patch(f"/Users/{uid}", OFF)
    assert not is_active(business, uid)


def test_member_added_again_can_be_deactivated_again(globex: ScimClient, business: Business) -> None:
    uid = str(globex.create("mina")["id"])
    globex.patch(f"/Users/{uid}", OFF)
    answered(business.send("PUT", f"{ACCOUNT}/{uid}", {"IsActive": True}))
    business.assign(uid, globex.org, globex.role)
    shown = globex.ok("GET", f"/Users/{uid}")
    assert (shown["active"], shown["groups"][0]["value"]) == (True, globex.role)
    tokens = business.tenant.tokens(uid)
    after = globex.patch(f"/Users/{uid}", OFF).get_json()
    assert (after["active"], after.get("groups")) == (False, None)
    own = business.tenant.send("GET", "/identity/v2/auth/account", bearer=tokens["access_token"])
    assert own.status_code in (401, 403)


def test_private_primary_address_stays(globex: ScimClient, business: Business) -> None:
    """Whoever replaced it would get the person's messages, and the person would lose the account."""
    entries = [{"Type": "Primary", "Value": "mina@private.example"}, {"Type": "Work", "Value": f"mina@{DOMAIN}"}]
    uid = str(business.tenant.create(Email=entries, EmailVerified=True)["Uid"])
    assert globex.create("mina")["id"] == uid
    renamed = {"op": "replace", "value": {"userName": f"x@{DOMAIN}", 'emails[type eq "work"].value': f"x@{DOMAIN}"}}
    assert globex.patch(f"/Users/{uid}", renamed).get_json()["userName"] == f"x@{DOMAIN}"
    assert business.tenant.read(uid)["Email"] == entries
