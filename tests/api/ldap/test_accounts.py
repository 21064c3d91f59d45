"""Signed-in people of a directory: step-up and password changes ask the directory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.ldap.conftest import SignIn
from tests.support.services.identity_service import on_one_database
from tests.support.services.slapd import PASSWORD, Slapd
from tests.support.tenants.tenant_server import TenantServer, answered, refused

pytestmark = on_one_database
STEP_UP = "/identity/v2/auth/account/reauth/password"
CHANGE = "/identity/v2/auth/password/change"
NEW = "Zebra-kettle-91"
Corp = Callable[..., None]


def token_of(sign_in: SignIn, email: str = "ada@corp.test") -> str:
    return str(answered(sign_in(email))["access_token"])


def test_step_up_asks_the_directory(corp: Corp, sign_in: SignIn, tenant: TenantServer) -> None:
    corp()
    token = token_of(sign_in)
    assert refused(tenant.send("PUT", STEP_UP, {"password": "wrong"}, bearer=token))[0] == 401
    assert refused(tenant.send("PUT", STEP_UP, {"password": " "}, bearer=token))[0] == 401
    assert tenant.send("PUT", STEP_UP, {"password": PASSWORD}, bearer=token).status_code == 200


def test_step_up_counts_before_the_directory_sees_it(corp: Corp, sign_in: SignIn, tenant: TenantServer) -> None:
    corp()
    tenant.change_settings(lockout={"type": "suspend", "maximum_failed_attempts": 2, "suspend_seconds": 600})
    token = token_of(sign_in)
    answers = [refused(tenant.send("PUT", STEP_UP, {"password": f"wrong {at}"}, bearer=token)) for at in range(3)]
    assert answers[-1] == (403, 1198)
    assert refused(sign_in("ada@corp.test")) == (403, 1198), "one count with the sign-in"


def test_password_is_changed_in_the_directory(
    corp: Corp, sign_in: SignIn, tenant: TenantServer, directory: Slapd
) -> None:
    corp(PasswordChange="ExtendedOperation")
    directory.add_person("changer")
    token = token_of(sign_in, "changer@corp.test")
    body = {"oldpassword": "wrong", "newpassword": NEW}
    assert refused(tenant.send("PUT", CHANGE, body, bearer=token)) == (401, 967)
    answered(tenant.send("PUT", CHANGE, {**body, "oldpassword": PASSWORD}, bearer=token))
    assert refused(sign_in("changer@corp.test")) == (401, 966)
    profile = answered(sign_in("changer@corp.test", NEW))["Profile"]
    assert tenant.read(profile["Uid"])["Password"] is None


@pytest.mark.parametrize("url", ["https://password.corp.test/", None])
def test_password_that_changes_elsewhere_is_refused(
    corp: Corp, sign_in: SignIn, tenant: TenantServer, url: str | None
) -> None:
    corp(PasswordUrl=url)
    token = token_of(sign_in)
    answer = tenant.send("PUT", CHANGE, {"oldpassword": PASSWORD, "newpassword": NEW}, bearer=token)
    assert refused(answer) == (403, 7970)
    assert (answer.get_json().get("Data") or {}).get("PasswordUrl") == url
    update: dict[str, Any] = {"Password": NEW, "OldPassword": PASSWORD}
    assert refused(tenant.send("PUT", "/identity/v2/auth/account", update, bearer=token)) == (403, 7970)
    assert sign_in("ada@corp.test").status_code == 200


def test_refused_new_password_stays_the_directorys_word(
    corp: Corp, sign_in: SignIn, tenant: TenantServer, directory: Slapd
) -> None:
    corp(PasswordChange="ActiveDirectory")  # whose attribute this server does not have
    directory.add_person("strict")
    token = token_of(sign_in, "strict@corp.test")
    answer = refused(tenant.send("PUT", CHANGE, {"oldpassword": PASSWORD, "newpassword": NEW}, bearer=token))
    assert answer in ((403, 7971), (503, 7968))
    assert sign_in("strict@corp.test").status_code == 200
