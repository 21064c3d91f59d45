"""A tenant's server changes locks, domains, IP addresses and return addresses; pages and operations follow at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client, TestResponse

from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt

LOCKS, URLS = "/v2/manage/lockout-config", "/v2/manage/whitelisted-urls"
DOMAINS, ADDRESSES = "/v2/manage/restrictions/domain-access", "/v2/manage/restrictions/ip-access"
LOCK = {
    "LoginLockedType": "Suspend",
    "MaximumFailedLoginAttempts": 2,
    "SuspendConfiguration": {"EffectivePeriodInSeconds": 600},
}
Ask = Callable[..., Any]


@pytest.fixture
def tenant(new_world: NewWorld, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(
        "app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1
    )  # as if five seconds had passed before each page
    return new_world()


@pytest.fixture
def server(tenant: World, identity_app: Flask) -> TenantServer:
    return TenantServer(tenant.services, identity_app, tenant.tenant_id, tenant.name, tenant.api_key, "")


@pytest.fixture
def send(server: TenantServer) -> Ask:
    token = machine(server, "security:read", "security:update", "all")
    return lambda method, path, body=None: ask(server, token, method, path, body)


@pytest.fixture
def near(server: TenantServer) -> Ask:
    """Ask from an address, 127.0.0.1 if none is named."""
    token = machine(server, "security:read", "security:update")

    def ask_from(method: str, path: str, body: Any = None, address: str = "127.0.0.1") -> TestResponse:
        sent = {"json": body} if body is not None else {}
        base = f"http://{server.services.settings.api_hostname}"
        headers, environ = {"Authorization": f"Bearer {token}"}, {"REMOTE_ADDR": address}
        return Client(server.app).open(
            path, method=method, base_url=base, headers=headers, environ_base=environ, **sent
        )

    return ask_from


def attempt(server: TenantServer, email: str, password: str) -> tuple[int, Any]:
    """Sign in by the interface; return the status and the error code."""
    answer = server.send("POST", "/identity/v2/auth/login", {"email": email, "password": password}, with_secret=False)
    return answer.status_code, (answer.json or {}).get("ErrorCode")


def test_lock_is_in_force(send: Ask, server: TenantServer, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    assert answered(send("GET", LOCKS))["LoginLockedType"] == "Suspend"
    assert answered(send("PUT", LOCKS, LOCK)) == LOCK == answered(send("GET", LOCKS))
    ada = tenant.person("ada@example.com")
    for _ in range(2):
        assert attempt(server, ada.email, "Wrong-password-1")[0] != 200
    assert attempt(server, ada.email, ada.password)[0] == 403
    page = new_visitor_at(tenant).open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    assert "Too many failed attempts" in page.text
    off = {**LOCK, "LoginLockedType": "None"}
    assert answered(send("PUT", LOCKS, off)) == off
    grace = tenant.person("grace@example.com")
    for _ in range(4):
        attempt(server, grace.email, "Wrong-password-1")
    assert attempt(server, grace.email, grace.password)[0] == 200


@pytest.mark.parametrize(
    "change",
    [
        {"LoginLockedType": "Forever"},
        {"LoginLockedType": "SecurityQuestion"},
        {"MaximumFailedLoginAttempts": -1},
        {"MaximumFailedLoginAttempts": 101},
        {"SuspendConfiguration": {"EffectivePeriodInSeconds": 0}},
        {"SuspendConfiguration": {"EffectivePeriodInSeconds": 99_999_999}},
    ],
)
def test_malformed_lock_is_refused(send: Ask, change: dict[str, Any]) -> None:
    before = answered(send("GET", LOCKS))
    assert refused(send("PUT", LOCKS, {**LOCK, **change})) == (400, 7900)
    assert answered(send("GET", LOCKS)) == before


def test_domain_lists_are_in_force(send: Ask, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    assert refused(send("GET", DOMAINS)) == (404, 8111)
    lists = {"Allowlist": [], "Blocklist": ["Blocked.example", "eve@example.com"]}
    stored = {"Allowlist": [], "Blocklist": ["blocked.example", "eve@example.com"]}
    assert answered(send("PUT", DOMAINS, lists)) == stored == answered(send("GET", DOMAINS))
    for email in ("ada@blocked.example", "ada@sub.blocked.example", "eve@example.com"):
        page = new_visitor_at(tenant).open("/register")
        assert "can’t be used here." in page.press("Create account", email=email, password="Zebra-kettle-91").text
    allowed = (
        new_visitor_at(tenant)
        .open("/register")
        .press("Create account", email="ada@example.org", password="Zebra-kettle-91")
    )
    assert allowed.heading == "Check your email"
    assert answered(send("PUT", DOMAINS, {"Allowlist": [], "Blocklist": []})) == {"Allowlist": [], "Blocklist": []}
    assert refused(send("GET", DOMAINS)) == (404, 8111)


def test_entry_in_both_lists_is_refused(send: Ask) -> None:
    both = {"Allowlist": ["a.example"], "Blocklist": ["A.example "]}
    assert refused(send("PUT", DOMAINS, both)) == (400, 8190)
    assert refused(send("PUT", ADDRESSES, {"AllowedIPs": ["10.0.0.0/8"], "DeniedIPs": ["10.0.0.0/8"]})) == (400, 8190)
    assert refused(send("GET", DOMAINS)) == refused(send("GET", ADDRESSES)) == (404, 8111)


def test_denied_address_is_refused(server: TenantServer, near: Ask) -> None:
    lists = {"AllowedIPs": [], "DeniedIPs": ["203.0.113.0/24"]}
    assert answered(near("PUT", ADDRESSES, lists)) == lists == answered(near("GET", ADDRESSES))
    assert refused(near("GET", ADDRESSES, address="203.0.113.9")) == (403, 1206)
    assert refused(near("GET", ADDRESSES, address="")) == (403, 1206)
    allowed = {"AllowedIPs": ["127.0.0.0/8"], "DeniedIPs": []}
    assert answered(near("PUT", ADDRESSES, allowed)) == allowed
    assert refused(near("GET", ADDRESSES, address="198.51.100.1")) == (403, 1206)
    assert answered(near("PUT", ADDRESSES, {"AllowedIPs": [], "DeniedIPs": []}))["AllowedIPs"] == []
    assert refused(near("GET", ADDRESSES, address="198.51.100.1")) == (404, 8111)


@pytest.mark.parametrize(
    "lists",
    [
        {"DeniedIPs": ["127.0.0.0/8"]},
        {"AllowedIPs": ["203.0.113.0/24"]},
        {"DeniedIPs": ["10.0.0.0/33"]},
        {"DeniedIPs": ["everybody"]},
        {"DeniedIPs": ["203.0.113.1"] * 1_001},
    ],
)
def test_list_that_refuses_its_caller_is_refused(near: Ask, lists: dict[str, Any]) -> None:
    assert refused(near("PUT", ADDRESSES, lists)) == (400, 7900)
    assert refused(near("GET", ADDRESSES)) == (404, 8111)


def test_return_addresses_are_in_force(send: Ask, server: TenantServer, tenant: World) -> None:
    urls = {"Domains": ["https://shop.example", "https://shop.example/done"]}
    assert answered(send("PUT", URLS, urls)) == urls == answered(send("GET", URLS))
    ada = tenant.person("ada@example.com")
    ask_for = partial(server.send, "POST", "/identity/v2/auth/password", {"email": ada.email}, with_secret=False)
    assert ask_for(resetPasswordUrl="https://shop.example/reset").status_code == 200
    assert ask_for(resetPasswordUrl="https://evil.example/reset").status_code >= 400


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//evil.example", "https://*", "x" * 2_001, ""])
def test_malformed_return_address_is_refused(send: Ask, url: str) -> None:
    before = answered(send("GET", URLS))
    assert refused(send("PUT", URLS, {"Domains": [url]})) == (400, 7900)
    assert answered(send("GET", URLS)) == before


@pytest.mark.parametrize("path", [LOCKS, DOMAINS, ADDRESSES, URLS])
def test_empty_body_and_other_scope_are_refused(send: Ask, server: TenantServer, path: str) -> None:
    assert send("PUT", path, {}).status_code == 400
    assert refused(ask(server, machine(server, "security:read"), "PUT", path, LOCK)) == (403, 6002)
