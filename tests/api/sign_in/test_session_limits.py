"""Session limits: the account's limit overrides the tenant's."""

from __future__ import annotations

import pytest

from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
_AUTH = "/identity/v2/auth"


def effective_session_limit(who: AccountHolder) -> int:
    return int(who.tenant.read(who.uid)["SessionLimit"])


def test_profile_shows_effective_session_limit(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, session_limit=1)
    assert effective_session_limit(who) == 1
    assert answered(who.logs_in())["Profile"]["SessionLimit"] == 1
    assert refused(who.logs_in()) == (403, 1338)


def test_session_limit_of_account_overrides_tenant_limit(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, session_limit=1)
    assert who.tenant.update(who.uid, {"SessionLimit": 2})["SessionLimit"] == 2
    for _ in range(2):
        answered(who.logs_in())
    assert refused(who.logs_in()) == (403, 1338)
    assert who.tenant.update(who.uid, {"SessionLimit": 0})["SessionLimit"] == 0
    answered(who.logs_in())
    assert who.tenant.update(who.uid, {"SessionLimit": None})["SessionLimit"] == 0, "null alone changes nothing"
    assert who.tenant.update(who.uid, {"SessionLimit": None}, nullsupport="true")["SessionLimit"] == 1
    assert refused(who.logs_in()) == (403, 1338)


def test_session_limit_of_account_holds_without_tenant_limit(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server()
    email = "ada@example.test"
    created = tenant.create(Email=[{"Type": "Primary", "Value": email}], EmailVerified=True, SessionLimit=1)
    assert created["SessionLimit"] == 1
    body = {"email": email, "password": "Zebra-kettle-91"}
    session = answered(tenant.send("POST", f"{_AUTH}/login", body, with_secret=False))
    assert refused(tenant.send("POST", f"{_AUTH}/login", body, with_secret=False)) == (403, 1338)
    changed = answered(tenant.send("PUT", f"{_AUTH}/account", {"SessionLimit": 9}, bearer=session["access_token"]))
    assert changed["Data"]["SessionLimit"] == 1, "the account itself cannot change it"
    for wrong in (-1, 101, "x"):
        assert refused(tenant.send("PUT", f"{MANAGE}/{created['Uid']}", {"SessionLimit": wrong})) == (400, 908)
