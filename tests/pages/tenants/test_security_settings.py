"""A tenant's server changes passkeys, passwords, lifetimes and authenticator apps; pages and operations follow at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest
from flask import Flask

from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt

PASSKEYS, PASSWORDS = "/v2/manage/passkey-config", "/v2/manage/password-policies"
SESSIONS, TOTP = "/v2/manage/session-config", "/v2/manage/2fa/totp-authenticator-settings"
EVERY = (PASSKEYS, PASSWORDS, SESSIONS, TOTP)
POLICY: dict[str, Any] = {
    "DictionaryPasswordValidation": True,
    "ProfileDataPasswordValidation": True,
    "ProfileDataPasswordExactMatch": False,
    "CommonPasswordPreventionValidation": True,
    "MaxPasswordHistory": 5,
    "ExpirationFrequency": 0,
    "ExpirationFrequencyType": "day",
    "PasswordValidationRules": "min_length[10]|max_length[128]|number|symbol",
}
LIFETIMES: dict[str, Any] = {
    "AccessTokenTTL": 900,
    "RefreshTokenTTL": 5_184_000,
    "SessionIdleTTL": 7_200,
    "SessionTTL": 86_400,
    "RememberMe": True,
    "RememberMeTTL": 2_592_000,
    "SessionLimit": 0,
}
TOTP_SETTINGS = {"IsEnabled": True, "QRCodeWidth": 300, "IssuerId": "Acme Keys", "AccountSecretKey": None}
Ask = Callable[..., Any]


@pytest.fixture
def tenant(new_world: NewWorld, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(
        "app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1
    )  # as if five seconds had passed before each page
    return new_world(passkeys=True, two_factor="optional")


@pytest.fixture
def server(tenant: World, identity_app: Flask) -> TenantServer:
    return TenantServer(tenant.services, identity_app, tenant.tenant_id, tenant.name, tenant.api_key, "")


@pytest.fixture
def send(server: TenantServer) -> Ask:
    token = machine(server, "security:read", "security:update", "all")
    return lambda method, path, body=None: ask(server, token, method, path, body)


def test_passkeys_are_switched_and_read(send: Ask, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(tenant)
    config = answered(send("GET", PASSKEYS))
    assert config["RPID"] == f"{tenant.name}.localhost"
    assert config["RPOrigins"] == [visitor.home]
    assert "Lost your passkey?" in visitor.open("/login").text
    changed = {**config, "PasskeySelection": "Button", "ProgressiveEnrollmentDelay": 7}
    changed["RPOrigins"] = [visitor.home, "https://acme.example"]
    assert answered(send("PUT", PASSKEYS, changed)) == changed == answered(send("GET", PASSKEYS))
    assert answered(send("PUT", PASSKEYS, {**changed, "IsEnabled": False}))["IsEnabled"] is False
    assert "Lost your passkey?" not in visitor.open("/login").text
    assert refused(send("GET", PASSKEYS)) == (403, 1320)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("RPID", "evil.example"),
        ("RPOrigins", ["javascript:alert(1)"]),
        ("RPOrigins", ["https://a.example"] * 22),
        ("PasskeySelection", "None"),
        ("ProgressiveEnrollmentDelay", 0),
        ("RPDisplayName", "x" * 65),
        ("IsEnabled", None),
    ],
)
def test_malformed_passkey_setting_is_refused(send: Ask, member: str, value: Any) -> None:
    config = answered(send("GET", PASSKEYS))
    answer = send("PUT", PASSKEYS, {**config, member: value})
    assert answer.status_code == 400, answer.text
    assert member in answer.text or member == "IsEnabled"
    assert answered(send("GET", PASSKEYS)) == config


def test_policy_of_passwords_is_in_force(send: Ask, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    assert answered(send("GET", PASSWORDS)) == POLICY
    rules = "min_length[14]|max_length[64]|lowercase|uppercase"
    changed = {**POLICY, "PasswordValidationRules": rules, "MaxPasswordHistory": 2, "ExpirationFrequency": 90}
    assert answered(send("PUT", PASSWORDS, changed)) == changed == answered(send("GET", PASSWORDS))
    page = new_visitor_at(tenant).open("/register")
    assert "At least 14 characters" in page.text
    assert "A symbol" not in page.text
    refused_page = page.press("Create account", email="new@example.com", password="Short-4you")
    assert refused_page.heading == "Create your account"


def test_weeks_of_expiry_are_shown_as_days(send: Ask) -> None:
    weeks = {**POLICY, "ExpirationFrequency": 2, "ExpirationFrequencyType": "week"}
    assert answered(send("PUT", PASSWORDS, weeks)) == {**POLICY, "ExpirationFrequency": 14}


def test_exact_match_allows_password_that_contains_name(send: Ask, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    rules = {**POLICY, "PasswordValidationRules": "min_length[5]", "ProfileDataPasswordExactMatch": True}
    assert answered(send("PUT", PASSWORDS, rules))["ProfileDataPasswordExactMatch"] is True
    page = new_visitor_at(tenant).open("/register")
    assert "Not your name or email" not in page.text
    assert page.press("Create account", email="magnolia@example.com", password="magnolia").heading == page.heading
    sent = page.press("Create account", email="magnolia@example.com", password="magnolia-7-Tree")
    assert sent.heading == "Check your email"


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("PasswordValidationRules", "min_length[x]"),
        ("PasswordValidationRules", "emoji"),
        ("PasswordValidationRules", "min_length[20]|max_length[10]"),
        ("PasswordValidationRules", "min_length[9999]"),
        ("MaxPasswordHistory", 99),
        ("ExpirationFrequency", -1),
        ("ExpirationFrequencyType", "fortnight"),
        ("DictionaryPasswordValidation", False),
    ],
)
def test_malformed_policy_is_refused(send: Ask, member: str, value: Any) -> None:
    assert refused(send("PUT", PASSWORDS, {**POLICY, member: value})) == (400, 7900)
    assert answered(send("GET", PASSWORDS)) == POLICY


def test_lifetimes_are_in_force(send: Ask, server: TenantServer, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    assert answered(send("GET", SESSIONS)) == LIFETIMES
    changed = {**LIFETIMES, "AccessTokenTTL": 300, "RememberMe": False, "SessionLimit": 2}
    assert answered(send("PUT", SESSIONS, changed)) == changed == answered(send("GET", SESSIONS))
    assert "Keep me signed in" not in new_visitor_at(tenant).open("/login").text
    tenant.change_settings(two_factor="disabled")
    ada = tenant.person("ada@example.com")
    body = {"email": ada.email, "password": ada.password}
    token = answered(server.send("POST", "/identity/v2/auth/login", body, with_secret=False))["access_token"]
    valid = {"access_token": token, "with_secret": False}
    pass_time(tenant.services, minutes=4)
    assert server.send("GET", "/identity/v2/auth/account", **valid).status_code == 200
    pass_time(tenant.services, minutes=2)
    assert server.send("GET", "/identity/v2/auth/account", **valid).status_code != 200


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("AccessTokenTTL", 90),
        ("AccessTokenTTL", 0),
        ("SessionTTL", 5_000),
        ("RememberMeTTL", 3_600),
        ("SessionLimit", 101),
    ],
)
def test_malformed_lifetime_is_refused(send: Ask, member: str, value: int) -> None:
    answer = send("PUT", SESSIONS, {**LIFETIMES, member: value})
    assert (answer.status_code, member in answer.text) == (400, True)
    assert answered(send("GET", SESSIONS)) == LIFETIMES


def test_authenticator_apps_show_the_issuer(send: Ask, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    assert refused(send("GET", TOTP)) == (404, 7952)
    assert answered(send("PUT", TOTP, TOTP_SETTINGS)) == TOTP_SETTINGS == answered(send("GET", TOTP))
    visitor, ada = new_visitor_at(tenant), tenant.person("ada@example.com")
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    assert "Authenticator app" in visitor.open("/second-factors").text
    assert answered(send("PUT", TOTP, {**TOTP_SETTINGS, "IsEnabled": False}))["IsEnabled"] is False
    assert "Authenticator app" not in visitor.open("/second-factors").text


def test_image_has_the_width_of_the_settings(send: Ask, server: TenantServer, tenant: World) -> None:
    answered(send("PUT", TOTP, TOTP_SETTINGS))
    tenant.change_settings(two_factor="required")
    ada = tenant.person("ada@example.com")
    body = {"email": ada.email, "password": ada.password}
    requested = answered(server.send("POST", "/identity/v2/auth/login/2fa", body, with_secret=False))
    image = unquote(requested["SecondFactorAuthentication"]["QRCode"])
    assert "width='300.0'" in image


@pytest.mark.parametrize(("member", "value"), [("QRCodeWidth", 5), ("IssuerId", "x" * 65), ("AccountSecretKey", "key")])
def test_malformed_authenticator_setting_is_refused(send: Ask, member: str, value: Any) -> None:
    answer = send("PUT", TOTP, {**TOTP_SETTINGS, member: value})
    assert (*refused(answer), member in answer.text) == (400, 7900, True)
    assert refused(send("GET", TOTP)) == (404, 7952)


@pytest.mark.parametrize("path", EVERY)
def test_empty_body_and_other_scope_are_refused(send: Ask, server: TenantServer, path: str) -> None:
    assert send("PUT", path, {}).status_code == 400
    assert refused(ask(server, machine(server, "template:update"), "PUT", path, {})) == (403, 6002)
    assert refused(ask(server, machine(server, "security:read"), "PUT", path, POLICY)) == (403, 6002)
