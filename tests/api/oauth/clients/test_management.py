"""Management of OAuth clients: written settings apply at the next sign-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.contract.applications.security_profile import FAPI_DEFAULTS
from app.identity.directory.tenants.tables import applications
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.managed_clients import CLIENTS, SHOP, machine_token, worker
from tests.support.services.identity_service import MovableClock
from tests.support.tenants.machines import ask, audience, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

ALL = tuple(f"client:{action}" for action in ("read", "create", "update", "delete"))
Send = Callable[..., TestResponse]


def asking(tenant: TenantServer, *more: str) -> Send:
    token = machine(tenant, *ALL, *more)
    return lambda method, path, body=None: ask(tenant, token, method, path, body)


@pytest.fixture
def send(acme: TenantServer) -> Send:
    return asking(acme)


def test_client_is_created_shown_once_changed_and_deleted(send: Send) -> None:
    made = answered(send("POST", CLIENTS, {**SHOP, "AllowedScopes": ["openid", "orders"], "RequirePKCE": True}))
    assert (made["Protocol"], made["ApplicationType"], made["AllowedScopes"]) == ("OpenID", "Web", ["openid", "orders"])
    assert len(made["ClientSecret"]) > 30
    shown = answered(send("GET", f"{CLIENTS}/shop"))
    assert shown == {**made, "ClientSecret": "********"}
    assert shown in answered(send("GET", CLIENTS))["Data"]
    changed = answered(send("PUT", f"{CLIENTS}/Shop", {"AccessTokenTTL": 300, "ClientSecret": "********"}))
    assert changed == {**shown, "AccessTokenTTL": 300}
    assert answered(send("DELETE", f"{CLIENTS}/Shop")) == {"IsDeleted": True}
    assert refused(send("GET", f"{CLIENTS}/Shop")) == (404, 7981)


def test_client_with_exchanges_is_stored_as_given(acme: TenantServer) -> None:
    send = asking(acme, "all")
    grants = ["urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange"]
    issuer = {"Issuer": "https://hr.example", "JwksUri": "https://hr.example/jwks", "Subject": "email"}
    body = {"AppName": "Payroll", "GrantTypes": grants, "RedirectURIs": [], "MayAct": ["x"], "ExchangeAudiences": ["y"]}
    assert refused(send("POST", CLIENTS, body))[0] == 400, "jwt-bearer needs an issuer"
    made = answered(send("POST", CLIENTS, {**body, "AssertionIssuers": [issuer]}))
    assert issuer.items() <= made["AssertionIssuers"][0].items()
    assert (made["MayAct"], made["ExchangeAudiences"], made["GrantTypes"]) == (["x"], ["y"], grants)
    assert (
        refused(send("PUT", f"{CLIENTS}/Payroll", {"AssertionIssuers": [{"Issuer": "https://hr.example"}]}))[0] == 400
    )


def test_change_is_in_force_at_once(acme: TenantServer, send: Send) -> None:
    made = answered(send("POST", CLIENTS, worker(acme, *ALL)))
    token = str(answered(machine_token(acme, made))["access_token"])
    assert answered(ask(acme, token, "GET", CLIENTS))
    answered(send("PUT", f"{CLIENTS}/Worker", {"IsActive": False}))
    assert machine_token(acme, made).status_code in (400, 401)
    assert refused(ask(acme, token, "GET", CLIENTS)) == (403, 6002)


def test_rotated_secret_overlaps_with_the_former_one(acme: TenantServer, send: Send) -> None:
    made = answered(send("POST", CLIENTS, worker(acme, "client:read")))
    rotated = answered(send("PUT", f"{CLIENTS}/credentials/Worker"))
    assert set(rotated) == {"ClientId", "ClientSecret"}
    assert rotated["ClientId"] == made["ClientId"]
    for secret in (made["ClientSecret"], rotated["ClientSecret"]):
        answered(machine_token(acme, made, client_secret=secret))
    clock = acme.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(hours=25)
    assert machine_token(acme, made).status_code == 403
    answered(machine_token(acme, rotated))


def test_second_rotation_ends_the_oldest_secret(acme: TenantServer, send: Send) -> None:
    made = answered(send("POST", CLIENTS, worker(acme, "client:read")))
    second, third = (answered(send("PUT", f"{CLIENTS}/credentials/Worker")) for _ in range(2))
    assert machine_token(acme, made).status_code == 403
    answered(machine_token(acme, second))
    answered(machine_token(acme, third))


@pytest.mark.both_databases
def test_public_client_has_no_secret(send: Send) -> None:
    body = {**SHOP, "ApplicationType": "SPA", "TokenEndpointAuthMethod": "none"}
    assert answered(send("POST", CLIENTS, body))["ClientSecret"] is None
    assert refused(send("PUT", f"{CLIENTS}/credentials/Shop")) == (400, 7900)
    answered(send("PUT", f"{CLIENTS}/Shop", {"TokenEndpointAuthMethod": "client_secret_post"}))
    assert answered(send("PUT", f"{CLIENTS}/credentials/Shop"))["ClientSecret"]


@pytest.mark.both_databases
def test_client_that_becomes_public_loses_its_secrets(acme: TenantServer, send: Send) -> None:
    made = answered(send("POST", CLIENTS, {**SHOP, "ClientSecret": None}))
    answered(send("PUT", f"{CLIENTS}/credentials/Shop"))
    changed = answered(send("PUT", f"{CLIENTS}/Shop", {"TokenEndpointAuthMethod": "none"}))
    assert (made["ClientSecret"] is not None, changed["ClientSecret"]) == (True, None)
    answered(send("PUT", f"{CLIENTS}/Shop", {"TokenEndpointAuthMethod": "client_secret_post"}))
    assert answered(send("GET", f"{CLIENTS}/Shop"))["ClientSecret"] is None


MALFORMED_CLIENT: list[tuple[dict[str, Any], str]] = [
    ({"AppName": "1shop"}, "AppName"),
    ({"AppName": "x" * 61}, "AppName"),
    ({"RedirectURIs": ["javascript:alert(1)"]}, "RedirectURIs"),
    ({"RedirectURIs": ["http://shop.example/in"]}, "RedirectURIs"),
    ({"RedirectURIs": []}, "RedirectURIs"),
    ({"RedirectURIs": ["https://shop.example/in#part"]}, "RedirectURIs"),
    ({"GrantTypes": ["password"]}, "GrantTypes"),
    ({"GrantTypes": ["refresh_token"]}, "GrantTypes"),
    ({"AllowedScopes": ["orders"]}, "scope"),
    ({"AllowedScopes": ["openid", "a b"]}, "AllowedScopes"),
    ({"AllowedScopes": ["openid", "account:write"]}, "scope"),
    ({"Protocol": "SAML"}, "Protocol"),
    ({"AllowedCorsOrigin": ["*"]}, "AllowedCorsOrigin"),
    ({"AccessTokenTTL": 1}, "AccessTokenTTL"),
    ({"TokenEndpointAuthMethod": "password"}, "TokenEndpointAuthMethod"),
    ({"TokenEndpointAuthMethod": "private_key_jwt"}, "jwks"),
    ({"TokenEndpointAuthSigningAlg": "HS256"}, "TokenEndpointAuthSigningAlg"),
    (
        {"TokenEndpointAuthMethod": "client_secret_jwt", "TokenEndpointAuthSigningAlg": "ES256"},
        "TokenEndpointAuthSigningAlg",
    ),
    ({"Jwks": {"keys": [{"kty": "RSA", "n": "x" * 100, "e": "AQAB"}]}}, "Jwks"),
    ({"Jwks": {"keys": [{"kty": "EC", "x": {"y": "z"}}]}}, "Jwks"),
    ({"Jwks": {"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}}, "Jwks"),
    ({"Jwks": {"keys": []}}, "Jwks"),
]


def test_malformed_client_names_its_field(send: Send, subtests: pytest.Subtests) -> None:
    for members, named in MALFORMED_CLIENT:
        with subtests.test(str((members, named))[:60]):
            answer = send("POST", CLIENTS, {**SHOP, **members})
            assert refused(answer) == (400, 7900)
            assert named in answer.get_json()["Description"]
            assert "Shop" not in [item["AppName"] for item in answered(send("GET", CLIENTS))["Data"]]


def test_name_in_another_case_is_taken(send: Send) -> None:
    answered(send("POST", CLIENTS, SHOP))
    assert refused(send("POST", CLIENTS, {**SHOP, "AppName": "SHOP"})) == (409, 7980)


def test_program_grants_no_scope_that_it_lacks(acme: TenantServer, send: Send) -> None:
    wider = asking(acme, "security:update")
    assert refused(send("POST", CLIENTS, worker(acme, "client:read", "security:update"))) == (403, 6002)
    assert refused(send("POST", CLIENTS, worker(acme, "all"))) == (403, 6002)
    answered(send("POST", CLIENTS, worker(acme, "client:read")))
    body = {"AudienceScopes": {audience(acme).replace("/identity/v2", "/v2"): ["security:update"]}}
    assert refused(send("PUT", f"{CLIENTS}/Worker", body)) == (403, 6002)
    answered(wider("PUT", f"{CLIENTS}/Worker", body))
    assert refused(send("PUT", f"{CLIENTS}/credentials/Worker")) == (403, 6002)
    assert refused(send("PUT", f"{CLIENTS}/Worker", {"DisplayName": "The robot"})) == (403, 6002)
    answered(wider("PUT", f"{CLIENTS}/Worker", {"DisplayName": "The robot"}))


@pytest.mark.both_databases
def test_client_of_another_tenant_is_unknown(new_tenant_server: NewTenantServer, send: Send) -> None:
    answered(asking(new_tenant_server())("POST", CLIENTS, SHOP))
    for method, path in (("GET", "Shop"), ("PUT", "Shop"), ("DELETE", "Shop"), ("PUT", "credentials/Shop")):
        body = {"IsActive": False} if (method, path) == ("PUT", "Shop") else None
        assert refused(send(method, f"{CLIENTS}/{path}", body)) == (404, 7981), path


def test_client_gets_logout_addresses(send: Send) -> None:
    """`BackChannelLogout` with its list of addresses and its switches."""
    answered(send("POST", CLIENTS, SHOP))
    logout = {
        "LogoutURIs": ["https://shop.example/out", "https://orders.example/out"],
        "LogoutTokenTTL": 120,
        "LogoutInitiator": {"PasswordChange": False},
    }
    changes = {"BackChannelLogout": logout, "FrontChannelLogoutURI": "https://shop.example/front?x=1"}
    shown = answered(send("PUT", f"{CLIENTS}/shop", changes))
    reasons = {"RPLogout": True, "IDPLogout": True, "PasswordChange": False, "AccountDelete": True}
    assert shown["BackChannelLogout"] == {
        **logout,
        "IsEnabled": True,
        "SessionRequired": False,
        "LogoutInitiator": {**reasons, "Mode": "RPInitiated", "Intiators": reasons},
    }
    assert shown["FrontChannelLogoutURI"] == changes["FrontChannelLogoutURI"]
    off = answered(send("PUT", f"{CLIENTS}/shop", {"BackChannelLogout": {"IsEnabled": False}}))
    assert off["BackChannelLogout"] is None


@pytest.mark.parametrize(
    "changes",
    [
        {"BackChannelLogout": {"LogoutURIs": ["http://shop.example/out"]}},
        {"BackChannelLogout": {"LogoutURIs": ["https://shop.example/out#x"]}},
        {"BackChannelLogout": {"LogoutURIs": [f"https://shop.example/{number}" for number in range(7)]}},
        {"BackChannelLogout": {"LogoutTokenTTL": 0}},
        {"FrontChannelLogoutURI": "https://elsewhere.example/front"},
        {"FrontChannelLogoutURI": "javascript:alert(1)"},
    ],
)
def test_wrong_logout_address_is_refused(send: Send, changes: dict[str, Any]) -> None:
    """Front-Channel Logout 1.0 section 2: the address is at the host of a redirect URI."""
    answered(send("POST", CLIENTS, SHOP))
    assert send("PUT", f"{CLIENTS}/shop", changes).status_code == 400


def test_stored_client_names_no_default_that_it_never_had(acme: TenantServer, send: Send) -> None:
    """A process of the version before, during an upgrade or after a rollback, fails at settings that it does not know."""
    made = answered(send("POST", CLIENTS, {**SHOP, "RequirePKCE": True}))
    assert stored_names(acme, made["ClientId"]) <= STORED
    answered(send("PUT", f"{CLIENTS}/Shop", {**made, "ClientSecret": "********"}))
    assert stored_names(acme, made["ClientId"]) <= STORED
    answered(send("PUT", f"{CLIENTS}/Shop", {"RequirePKCE": False, "EnableCorsOrigin": False}))
    assert stored_names(acme, made["ClientId"]) - STORED == {"cors"}
    shown = answered(send("PUT", f"{CLIENTS}/Shop", {"EnableCorsOrigin": True}))
    assert shown == {**made, "ClientSecret": "********", "RequirePKCE": False}


STORED = {"name", "redirect_uris", "scope", "grant_types", "require_pkce", *FAPI_DEFAULTS, "token_endpoint_auth_method"}


def stored_names(tenant: TenantServer, client_id: str) -> set[str]:
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    where = (applications.c.tenant_id == tenant.tenant_id, applications.c.client_id == client_id)
    row = work.one(select(applications.c.settings).where(*where))
    work.rollback()
    assert row is not None
    return set(row.settings)
