"""A tenant's server sets up social providers; pages and operations follow at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.contract.federation import identity_linking_operations
from app.contract.federation.connections import NAMES
from app.contract.federation.provider_presets import presets
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt

PROVIDERS = "/v2/manage/providers"
GOOGLE = {"IsActive": True, "Key": "client-1", "Secret": "a client secret"}
APPLE = {"AppleSecretConfiguration": {"KeyIdentifier": "ABC123DEFG", "TeamId": "DEF123GHIJ"}}
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
    token = machine(server, "provider:read", "provider:update", "all")
    return lambda method, name="", body=None: ask(server, token, method, f"{PROVIDERS}/{name}".rstrip("/"), body)


def test_provider_is_offered_as_soon_as_it_is_active(send: Ask, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    names = [item["Provider"] for item in answered(send("GET"))["Data"]]
    assert names == sorted(name.upper() for name in identity_linking_operations.PROVIDERS)
    assert "Continue with Google" not in new_visitor_at(tenant).open("/login").text
    shown = answered(send("PUT", "google", GOOGLE))
    further = {"ExtraField1": "", "ExtraField2": "", "AppleSecretConfiguration": shown["AppleSecretConfiguration"]}
    assert shown == {"Provider": "GOOGLE", "IsActive": True, "Key": "client-1", "Secret": "********", **further}
    assert answered(send("GET", "GOOGLE")) == shown
    assert "Continue with Google" in new_visitor_at(tenant).open("/login").text
    connection = tenant.services.directory.by_name(tenant.name)
    assert connection is not None
    assert connection.settings.connections["google"].key == "client-1"
    answered(send("PUT", "GOOGLE", {"IsActive": False}))
    assert "Continue with Google" not in new_visitor_at(tenant).open("/login").text
    assert answered(send("GET", "GOOGLE")) == {**shown, "IsActive": False}


@pytest.mark.parametrize(
    ("name", "body", "named"),
    [
        ("google", {"IsActive": True}, "Key"),
        ("google", {**GOOGLE, "Key": "x" * 501}, "Key"),
        ("google", {**GOOGLE, "IsActive": "perhaps"}, "IsActive"),
        ("google", {**GOOGLE, "Secret": "x" * 2_001}, "Secret"),
        ("myspace", GOOGLE, ""),
    ],
)
def test_malformed_or_unknown_provider_changes_nothing(send: Ask, name: str, body: dict[str, Any], named: str) -> None:
    before = answered(send("GET"))
    answer = send("PUT", name, body)
    assert refused(answer) == (400, 7900)
    assert named in answer.get_json()["Description"]
    assert answered(send("GET")) == before


def test_every_provider_has_its_name_and_mark(
    send: Ask, tenant: World, new_visitor_at: NewVisitorAt, subtests: pytest.Subtests
) -> None:
    for name in NAMES:
        answered(send("PUT", name, {**GOOGLE, **APPLE} if name == "apple" else GOOGLE))
    page = new_visitor_at(tenant).open("/login").html
    buttons = dict(re.findall(r'<a[^>]*href="[^"]*/sign-in/with\?provider=(\w+)[^"]*"[^>]*>(.*?)</a>', page, re.DOTALL))
    assert list(buttons) == list(NAMES)
    for name, button in buttons.items():
        with subtests.test(name):
            text = " ".join(re.sub(r"<[^>]*>", " ", button).split())
            assert text == f"Continue with {presets()[name].title}"
            assert "<svg" in button, "an initial instead of the provider's mark"


def test_provider_with_addresses_of_a_file_keeps_them(send: Ask, tenant: World) -> None:
    tenant.change_settings(connections={"apple": {"key": "old", "issuer": "https://appleid.apple.com"}})
    assert answered(send("PUT", "APPLE", {"Key": "new"}))["Key"] == "new"
    found = tenant.services.directory.by_name(tenant.name)
    assert found is not None
    assert (found.settings.connections["apple"].key, found.settings.connections["apple"].issuer) == (
        "new",
        "https://appleid.apple.com",
    )


# OAuth custom providers: /v2/manage/custom-providers/oauth.

CUSTOM = "/v2/manage/custom-providers/oauth"
PARTNER: dict[str, Any] = {
    "ProviderName": "Partner",
    "FriendlyProviderName": "Partner AG",
    "UserLoginEndpoint": "https://partner.example/authorize",
    "AccessTokenEndpoint": "https://partner.example/token",
    "UserprofileEndpoint": "https://partner.example/user",
    "ApplicationKey": "key-1",
    "ApplicationSecret": "a client secret",
    "Scope": "user",
    "DataMap": {"ID": "user.id", "Email": "user.mail"},
}


@pytest.fixture
def manage(server: TenantServer) -> Ask:
    token = machine(server, *(f"provider:{action}" for action in ("read", "create", "update", "delete")), "all")
    return lambda method, path="", body=None: ask(server, token, method, f"{CUSTOM}{path}", body)


def test_custom_provider_is_offered_until_it_is_deleted(
    manage: Ask, tenant: World, new_visitor_at: NewVisitorAt
) -> None:
    shown = answered(manage("POST", body=PARTNER))
    assert shown == {
        **PARTNER, "ProviderName": "partner", "ApplicationSecret": "********", "IsActive": True, "ResponseType": "code",
        "RequestTokenHttpMethod": "POST", "AccessTokenParameterNameForApiAccess": "", "ExtraParameterInRedirectToProvider": "",
        "QueryParam": {}, "Headers": {}, "Domain": None, "EnableAutoLookUp": False, "ListInInterface": True,
    }  # fmt: skip
    assert answered(manage("GET"))["Data"] == [shown]
    assert "Continue with Partner AG" in new_visitor_at(tenant).open("/login").text
    changed = answered(manage("PUT", body={**shown, "ApplicationKey": "key-2"}))
    assert changed == {**shown, "ApplicationKey": "key-2"}
    assert answered(manage("DELETE", "/Partner")) == {"IsDeleted": True}
    assert "Partner" not in new_visitor_at(tenant).open("/login").text
    assert refused(manage("PUT", body=PARTNER)) == (404, 7940)
    assert refused(manage("DELETE", "/partner")) == (404, 7940)


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"ProviderName": "1st"}, "ProviderName"),
        ({"ProviderName": "Google"}, "ProviderName"),
        ({"UserLoginEndpoint": "http://partner.example/"}, "UserLoginEndpoint"),
        ({"AccessTokenEndpoint": None}, "AccessTokenEndpoint"),
        ({"UserprofileEndpoint": "javascript:alert(1)"}, "UserprofileEndpoint"),
        ({"ApplicationKey": ""}, "ApplicationKey"),
        ({"ResponseType": "token"}, "ResponseType"),
        ({"RequestTokenHttpMethod": "PUT"}, "RequestTokenHttpMethod"),
        ({"DataMap": {"Email": "mail"}}, "DataMap"),
        ({"DataMap": {"ID": "id", "Password": "pw"}}, "DataMap"),
    ],
)
def test_malformed_custom_provider_names_its_field(manage: Ask, members: dict[str, Any], named: str) -> None:
    answer = manage("POST", body={**PARTNER, **members})
    assert refused(answer) == (400, 7900)
    assert named in answer.get_json()["Description"]
    assert answered(manage("GET"))["Data"] == []


def test_connection_of_a_file_keeps_its_name(manage: Ask, tenant: World) -> None:
    tenant.change_settings(connections={"partner": {"key": "old", "issuer": "https://partner.example"}})
    assert refused(manage("POST", body=PARTNER)) == (400, 7900)
    assert refused(manage("DELETE", "/partner")) == (404, 7940)
