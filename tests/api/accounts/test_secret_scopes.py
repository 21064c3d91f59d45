"""Management operations that answer a secret of an account, each with a scope of its own beside those of its profile."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.tenants.machines import ask, audience, machine
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

EMAIL, NUMBER = "ada@example.test", "+4930111222333"
OF_PROFILES = ("profile:read", "profile:create", "profile:update", "profile:delete")
GUID = "2f0a4a1e-6b0c-4f6b-9a4e-1d2c3b4a5f60"

Call = tuple[str, str, Any, dict[str, str]]
SECRETS: dict[str, dict[str, Call]] = {
    "password:read": {"hash": ("GET", f"{MANAGE}/UID/password", None, {})},
    "token:create": {
        "forgotten password": ("POST", f"{MANAGE}/forgot/token", {"email": EMAIL}, {}),
        "verification": ("POST", f"{MANAGE}/verify/token", {"email": EMAIL}, {}),
        "verification, lifetime": ("GET", f"{MANAGE}/vtoken", None, {"email": EMAIL}),
        "emailed sign-in": ("POST", f"{MANAGE}/emailtoken/passwordlesslogin", {"email": EMAIL}, {}),
        "emailed smart login": ("POST", f"{MANAGE}/emailtoken/autologin", {"email": EMAIL, "clientguid": GUID}, {}),
        "emailed reset": ("POST", f"{MANAGE}/emailtoken/forgotpassword", {"email": EMAIL}, {}),
        "texted sign-in": ("POST", f"{MANAGE}/smsotp/passwordlesslogin", {"phone": NUMBER}, {}),
        "texted reset": ("POST", f"{MANAGE}/smsotp/forgotpassword", {"phone": NUMBER}, {}),
        "texted deletion": ("POST", f"{MANAGE}/smsotp/deleteuser", {"phone": NUMBER}, {}),
    },
    "backupcode:create": {
        "new": ("GET", f"{MANAGE}/2fa/backupcode", None, {"uid": "UID"}),
        "replaced": ("GET", f"{MANAGE}/2fa/backupcode/reset", None, {"uid": "UID"}),
    },
    "all": {"impersonation": ("GET", f"{MANAGE}/access_token", None, {"uid": "UID"})},
}
SETTINGS: dict[str, Any] = {
    "passwordless_email": True,
    "passwordless_sms": True,
    "smart_login": True,
    "phone_login": True,
    "two_factor": "optional",
    "security_questions": {"pet": "First pet?"},
    "second_factors": {"security_questions": True, "minimum_questions": 1},
}


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(**SETTINGS)


@pytest.fixture
def uid(tenant: TenantServer) -> str:
    """Create an account with an unverified address, a verified number and a second factor; return its id."""
    email = [{"Type": "Primary", "Value": EMAIL}]
    stored = tenant.create(Email=email, PhoneId=NUMBER, PhoneIdVerified=True, UserName="ada")
    uid, bearer = str(stored["Uid"]), str(tenant.tokens(str(stored["Uid"]))["access_token"])
    answers = {"securityquestionanswer": [{"QuestionId": "pet", "Answer": "Rex"}]}
    answered(tenant.send("PUT", "/identity/v2/auth/account/2fa/securityquestionanswer", answers, bearer=bearer))
    return uid


def call(tenant: TenantServer, uid: str, token: str, act: Call) -> Any:
    method, path, body, query = act
    named = {name: text.replace("UID", uid) for name, text in query.items()}
    return ask(tenant, token, method, path.replace("UID", uid), body, **named)


@pytest.mark.both_databases
def test_profile_scopes_open_no_secret(tenant: TenantServer, uid: str, subtests: pytest.Subtests) -> None:
    """Neither together, nor with the scope of another secret."""
    for scope, secrets in SECRETS.items():
        token = machine(tenant, *OF_PROFILES, *(SECRETS.keys() - {scope, "all"}), "client:read", "sott:read")
        for name, act in secrets.items():
            with subtests.test(name):
                assert refused(call(tenant, uid, token, act)) == (403, 6002)


@pytest.mark.parametrize("machine_scope", ["own", "all"])
def test_secret_is_opened_by_its_scope_and_by_all(
    tenant: TenantServer, uid: str, machine_scope: str, subtests: pytest.Subtests
) -> None:
    for scope, secrets in SECRETS.items():
        token = machine(tenant, scope if machine_scope == "own" else "all")
        for name, act in secrets.items():
            with subtests.test(name):
                answered(call(tenant, uid, token, act))


def test_scopes_of_secrets_open_no_profile(tenant: TenantServer, uid: str) -> None:
    token = machine(tenant, *(SECRETS.keys() - {"all"}))
    assert refused(ask(tenant, token, "GET", f"{MANAGE}/{uid}")) == (403, 6002)
    assert refused(ask(tenant, token, "PUT", f"{MANAGE}/{uid}", {"FirstName": "Eve"})) == (403, 6002)


def test_refusal_names_the_scope_that_is_missing(tenant: TenantServer, uid: str) -> None:
    answer = call(tenant, uid, machine(tenant, *OF_PROFILES), SECRETS["password:read"]["hash"])
    assert "password:read" in answer.get_json()["Description"]


def test_key_and_secret_still_open_the_hash(tenant: TenantServer, uid: str) -> None:
    assert answered(tenant.send("GET", f"{MANAGE}/{uid}/password"))["PasswordHash"].startswith("$argon2")


@pytest.mark.parametrize(
    ("method", "path", "query"),
    [
        ("GET", f"{MANAGE}/UID", {}),
        ("GET", MANAGE, {"email": EMAIL}),
        ("GET", f"{MANAGE}/UID", {"fields": "ProviderAccessCredential"}),
        ("GET", f"{MANAGE}/identities", {"email": EMAIL}),
        ("PUT", f"{MANAGE}/UID", {}),
    ],
)
def test_provider_token_is_withheld_from_profile_scopes(
    tenant: TenantServer, uid: str, method: str, path: str, query: dict[str, str]
) -> None:
    """A provider's raw token signs in natively, as its account."""
    tenant.update(uid, {"ProviderAccessCredential": {"AccessToken": "raw", "TokenSecret": "raw"}})
    act: Call = (method, path, {"FirstName": "Ada"} if method == "PUT" else None, query)
    for scopes, expected in (
        (OF_PROFILES, None),
        ((*OF_PROFILES, "token:read"), {"AccessToken": "raw", "TokenSecret": "raw"}),
        (("all",), {"AccessToken": "raw", "TokenSecret": "raw"}),
    ):
        found = answered(call(tenant, uid, machine(tenant, *scopes), act))
        profile = found["Data"][0] if "Data" in found else found
        assert profile["ProviderAccessCredential"] == expected, scopes
    shown: dict[str, Any] = dict(query)
    with_secret = answered(tenant.send(method, path.replace("UID", uid), act[2], **shown))
    profile = with_secret["Data"][0] if "Data" in with_secret else with_secret
    assert profile["ProviderAccessCredential"]["AccessToken"] == "raw"


@pytest.mark.parametrize("scope", ["password:read", "token:create", "backupcode:create", "token:read"])
def test_scope_of_a_secret_is_not_given_away_by_editing(tenant: TenantServer, scope: str) -> None:
    """A program with client:create alone gives itself no client that has it."""
    client = {
        "AppName": "exporter", "ApplicationType": "M2M", "GrantTypes": ["client_credentials"],
        "AudienceScopes": {audience(tenant): [scope]},
    }  # fmt: skip
    path = "/v2/manage/oauth-clients"
    maker = machine(tenant, *OF_PROFILES, "client:create", "client:update", "client:read")
    assert refused(ask(tenant, maker, "POST", path, client)) == (403, 6002)
    assert ask(tenant, machine(tenant, "client:create", scope), "POST", path, client).status_code in (200, 201)
    assert refused(ask(tenant, maker, "PUT", f"{path}/credentials/exporter")) == (403, 6002)
