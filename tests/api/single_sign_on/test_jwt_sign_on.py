"""JWT sign-on by programs: the JWT of an account for an app."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey, Key, OctKey, RSAKey
from werkzeug.test import TestResponse

from app.kit.clock import thread_cpu_seconds
from tests.support.fakes.identity_provider import key as rsa_key
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient

pytestmark = on_one_database
SECRET = "a key of at least thirty-two bytes, and thirty more bytes for HS512"
EMAIL = "ada@example.test"
CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
Members = dict[str, Any]


def pem(key: RSAKey | ECKey) -> str:
    return key.as_pem(private=True).decode()


def with_app(tenant: TenantServer, **members: Any) -> None:
    """Set up the JWT client Shop."""
    body = {"AppName": "Shop", "Algo": "HS256", "Secret": SECRET, **members}
    answered(ask(tenant, machine(tenant, "client:create"), "POST", "/v2/manage/jwt-clients", body))


def at_hub(tenant: TenantServer, method: str, path: str, body: Any = None, **query: Any) -> TestResponse:
    base = f"http://{tenant.name}.{tenant.services.settings.hub_domain}"
    sent = {"json": body} if body is not None else {}
    parameters = {name: value for name, value in {"apikey": tenant.api_key, **query}.items() if value is not None}
    return PlainClient(tenant.app, use_cookies=False).open(
        path, method=method, query_string=parameters, base_url=base, **sent
    )


def logs_in(tenant: TenantServer, app: str = "Shop", password: str = PASSWORD, **query: Any) -> TestResponse:
    body = {"email": EMAIL, "password": password}
    return at_hub(tenant, "POST", f"/api/jwt/{app}/login", body, **query)


def reads(tenant: TenantServer, token: str | None, app: str = "Shop", **query: Any) -> TestResponse:
    return at_hub(tenant, "GET", f"/api/jwt/{app}/token", access_token=token, **query)


def claims(answer: TestResponse, key: Key | None = None, algorithm: str = "HS256") -> Members:
    signed = answered(answer)["signature"]
    registry = jws.JWSRegistry(algorithms=[algorithm])
    return dict(jwt.decode(signed, key or OctKey.import_key(SECRET), registry=registry).claims)


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


@pytest.fixture
def ada(tenant: TenantServer) -> Members:
    account = {"Email": [{"Type": "Primary", "Value": EMAIL}], "FirstName": "Ada", "EmailVerified": True}
    return tenant.create(**account)


def test_password_gets_the_jwt_of_the_account(tenant: TenantServer, ada: Members) -> None:
    with_app(tenant, Mapping={"email": "Email", "first": "FirstName"}, Audience=["shop"], Metadata={"plan": "gold"})
    stored = claims(logs_in(tenant, Nonce="n-1"))
    now = int(tenant.services.clock.now().timestamp())
    assert stored["iss"] == f"{tenant.services.settings.hub_url(tenant.name)}/"
    assert (stored["sub"], stored["aud"], stored["nonce"]) == (ada["Uid"], "shop", "n-1")
    assert (stored["email"], stored["first"], stored["plan"]) == (EMAIL, "Ada", "gold")
    assert stored["exp"] - stored["iat"] == 600
    assert abs(stored["iat"] - now) < 60


def test_access_token_gets_the_same(tenant: TenantServer, ada: Members) -> None:
    with_app(tenant, NotAfterDifference=60, NotBeforeDifference=30)
    stored = claims(reads(tenant, tenant.tokens(ada["Uid"])["access_token"], "shop", Nonce="n-2"))
    assert (stored["sub"], stored["nonce"], stored["exp"] - stored["iat"], stored["iat"] - stored["nbf"]) == (
        ada["Uid"],
        "n-2",
        60,
        30,
    )


def test_older_addresses_name_the_app_in_the_query(tenant: TenantServer, ada: Members) -> None:
    with_app(tenant)
    body = {"email": EMAIL, "password": PASSWORD}
    first = tenant.send("POST", "/sso/jwt/api/login", body, with_secret=False, jwtapp="Shop", Nonce="n")
    assert claims(first)["nonce"] == "n"
    token = tenant.tokens(ada["Uid"])["access_token"]
    second = tenant.send("GET", "/sso/jwt/api/token", with_secret=False, jwtapp="Shop", access_token=token)
    assert claims(second)["sub"] == ada["Uid"]
    assert refused(tenant.send("POST", "/sso/jwt/api/login", body, with_secret=False)) == (400, 1196)
    assert refused(tenant.send("GET", "/sso/jwt/api/token", bearer=token)) == (400, 1196)


@pytest.mark.parametrize("size", ["256", "384", "512"])
@pytest.mark.parametrize("family", ["HS", "RS", "ES"])
def test_every_algorithm_signs(tenant: TenantServer, ada: Members, family: str, size: str) -> None:
    algorithm = f"{family}{size}"
    keys: dict[str, Any] = {"HS": OctKey.import_key(SECRET), "RS": rsa_key(1)}
    key = keys.get(family) or ECKey.generate_key(CURVES[algorithm])
    with_app(tenant, Algo=algorithm, Secret=SECRET if family == "HS" else pem(key))
    answer = logs_in(tenant)
    assert claims(answer, key, algorithm)["sub"] == ada["Uid"]
    assert jws.extract_compact(answered(answer)["signature"].encode()).headers() == {"typ": "JWT", "alg": algorithm}


def test_unverified_address_is_no_claim(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(email_verification="optional")
    tenant.create(Email=[{"Type": "Primary", "Value": EMAIL}], EmailVerified=False)
    with_app(tenant, Mapping={"email": "Email"})
    assert "email" not in claims(logs_in(tenant))


def test_mapping_never_replaces_the_tokens_own_claims(tenant: TenantServer, ada: Members) -> None:
    with_app(tenant, Mapping={"iss": "FirstName", "exp": "FirstName", "sub": "ID"}, Metadata={"jti": "x", "aud": "y"})
    stored = claims(logs_in(tenant))
    assert stored["iss"].startswith("http")
    assert isinstance(stored["exp"], int)
    assert (stored["sub"], "aud" in stored, stored["jti"] != "x") == (ada["ID"], False, True)


def test_unknown_app_is_refused_before_the_password(tenant: TenantServer, ada: Members) -> None:
    assert refused(logs_in(tenant, "Other", "wrong")) == (401, 1180)
    assert refused(reads(tenant, tenant.tokens(ada["Uid"])["access_token"], "Other")) == (401, 1180)


def test_app_of_another_tenant_is_unknown(
    tenant: TenantServer, ada: Members, new_tenant_server: NewTenantServer
) -> None:
    with_app(new_tenant_server())
    assert refused(logs_in(tenant)) == (401, 1180)
    with_app(tenant)
    outsider = new_tenant_server()
    token = outsider.tokens(outsider.create()["Uid"])["access_token"]
    assert refused(reads(tenant, token)) == (401, 1409)


def test_wrong_password_locks_as_at_the_sign_in(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(lockout={"maximum_failed_attempts": 2})
    tenant.create(Email=[{"Type": "Primary", "Value": EMAIL}], EmailVerified=True)
    with_app(tenant)
    assert refused(logs_in(tenant, password="wrong one")) == (401, 966)
    assert refused(logs_in(tenant, password="wrong two"))[1] in (966, 991, 1198)
    assert refused(logs_in(tenant))[1] in (991, 1198), "the right password does not open the lock"


def test_account_with_a_second_factor_is_refused(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(two_factor="optional")
    tenant.create(Email=[{"Type": "Primary", "Value": EMAIL}], EmailVerified=True)
    with_app(tenant)
    assert refused(logs_in(tenant)) == (403, 1176)


def test_unverified_account_is_refused(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(email_verification="required")
    tenant.create(Email=[{"Type": "Primary", "Value": EMAIL}], EmailVerified=False)
    with_app(tenant)
    assert refused(logs_in(tenant)) == (403, 970)


def test_only_the_accounts_own_live_token_counts(tenant: TenantServer, ada: Members) -> None:
    with_app(tenant)
    assert refused(reads(tenant, "x")) == (401, 1409)
    assert refused(reads(tenant, tenant.impersonates(ada["Uid"])["access_token"])) == (403, 1143)
    token = tenant.tokens(ada["Uid"])["access_token"]
    assert refused(reads(tenant, token, apikey="x"))[0] in (400, 403)
    answered(tenant.send("PUT", f"/identity/v2/manage/account/{ada['Uid']}", {"IsActive": False}))
    assert refused(reads(tenant, token))[0] in (401, 403)


def test_unknown_account_is_answered_as_a_wrong_password(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(
        lockout={"type": "suspend"}, hide_unknown_accounts=True, limits={"sign_in_per_minute_per_address": 0}
    )
    tenant.create(Email=[{"Type": "Primary", "Value": EMAIL}], EmailVerified=True)
    with_app(tenant)
    answers = {}
    for email in (EMAIL, "absent@example.test"):
        body = {"email": email, "password": "not this one"}
        tries = [at_hub(tenant, "POST", "/api/jwt/Shop/login", body) for _ in range(7)]
        older = tenant.send("POST", "/sso/jwt/api/login", body, jwtapp="Shop")
        answers[email] = [(item.status_code, item.get_json()["ErrorCode"]) for item in (*tries, older)]
    assert answers[EMAIL] == answers["absent@example.test"]


def test_long_rsa_key_costs_little_at_each_sign_in(tenant: TenantServer, ada: Members) -> None:
    """The key was validated when it was stored, which takes 0.2 s of CPU."""
    key = RSAKey.generate_key(4096)
    with_app(tenant, Algo="RS256", Secret=pem(key))
    answered(logs_in(tenant))
    begun = thread_cpu_seconds()
    answers = [logs_in(tenant) for _ in range(3)]
    assert thread_cpu_seconds() - begun < 0.4
    assert claims(answers[0], key, "RS256")["sub"] == ada["Uid"]
