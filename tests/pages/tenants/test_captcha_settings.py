"""A tenant's server changes the captcha; pages and operations follow at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

from app.identity.platform.services import IdentityServices
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.captchas import FakeCaptchaProvider, providing
from tests.support.visitors.visitor import NewVisitorAt

CAPTCHA, BUTTON = "/v2/manage/captcha", "Create account"
KEYS = {"PublicKey": "site-key-1", "PrivateKey": "a private key"}
HCAPTCHA: dict[str, Any] = {"IsEnabled": True, "EnabledCaptcha": "HCaptcha", "HCaptcha": {**KEYS, "Threshold": 0.7}}
OFF = {
    "IsEnabled": False, "EnabledCaptcha": None, "QQTencentCaptcha": None, "GoogleRecaptchaV2": None,
    "GoogleRecaptchaV3": None, "HCaptcha": None,
}  # fmt: skip
Ask = Callable[..., Any]


@pytest.fixture
def tenant(new_world: NewWorld, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(
        "app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1
    )  # as if five seconds had passed before each page
    return new_world(registration_captcha=True)


@pytest.fixture
def server(tenant: World, identity_app: Flask) -> TenantServer:
    return TenantServer(tenant.services, identity_app, tenant.tenant_id, tenant.name, tenant.api_key, "")


@pytest.fixture
def send(server: TenantServer) -> Ask:
    token = machine(server, "security:read", "security:update")
    return lambda method, body=None: ask(server, token, method, CAPTCHA, body)


@pytest.fixture
def provider(services: IdentityServices, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCaptchaProvider]:
    with providing(services, monkeypatch) as made:
        yield made


def test_page_and_operation_use_the_provider_at_once(
    send: Ask, server: TenantServer, tenant: World, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    assert answered(send("GET")) == OFF
    shown = answered(send("PUT", HCAPTCHA))
    assert shown == {**OFF, **HCAPTCHA, "HCaptcha": {**HCAPTCHA["HCaptcha"], "PrivateKey": "********"}}
    assert answered(send("GET")) == shown
    page = new_visitor_at(tenant).open("/register")
    assert "site-key-1" in page.html
    page.press(BUTTON, email="ada@example.test", password="Zebra-kettle-91", captcha_proof="a proof")
    body = {"Email": [{"Type": "Primary", "Value": "eva@example.test"}], "Password": "Zebra-kettle-91"}
    path = "/identity/v2/auth/register/captcha"
    answered(server.send("POST", path, {**body, "h-captcha-response": "another proof"}, with_secret=False))
    assert [(facts["secret"], facts["sitekey"]) for _, facts in provider.received] == [
        ("a private key", "site-key-1")
    ] * 2
    assert answered(send("PUT", {"IsEnabled": False})) == OFF
    assert "site-key-1" not in new_visitor_at(tenant).open("/register").html


def test_masked_key_stays(
    send: Ask, tenant: World, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    answered(send("PUT", HCAPTCHA))
    masked = {"PublicKey": "site-key-2", "PrivateKey": "********", "Threshold": 0.2}
    assert answered(send("PUT", {**HCAPTCHA, "HCaptcha": masked}))["HCaptcha"] == masked
    page = new_visitor_at(tenant).open("/register")
    page.press(BUTTON, email="ada@example.test", password="Zebra-kettle-91", captcha_proof="a proof")
    assert [(facts["secret"], facts["sitekey"]) for _, facts in provider.received] == [("a private key", "site-key-2")]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"IsEnabled": True}, "EnabledCaptcha"),
        ({"IsEnabled": True, "EnabledCaptcha": "Turnstile"}, "EnabledCaptcha"),
        ({"IsEnabled": True, "EnabledCaptcha": "HCaptcha"}, "HCaptcha.PublicKey"),
        ({"IsEnabled": True, "EnabledCaptcha": "HCaptcha", "HCaptcha": {"PublicKey": "x"}}, "HCaptcha.PrivateKey"),
        (
            {"IsEnabled": True, "EnabledCaptcha": "HCaptcha", "HCaptcha": {"PublicKey": "x", "PrivateKey": "********"}},
            "HCaptcha.PrivateKey",
        ),
        ({**HCAPTCHA, "HCaptcha": {**KEYS, "Threshold": 2}}, "Threshold"),
        ({**HCAPTCHA, "HCaptcha": {**KEYS, "PublicKey": "x" * 201}}, "PublicKey"),
        ({**HCAPTCHA, "GoogleRecaptchaV2": KEYS}, "GoogleRecaptchaV2"),
        ({"IsEnabled": False, "HCaptcha": KEYS}, "HCaptcha"),
        ({"IsEnabled": "perhaps"}, "IsEnabled"),
    ],
)
def test_malformed_captcha_changes_nothing(send: Ask, body: dict[str, Any], named: str) -> None:
    answer = send("PUT", body)
    assert refused(answer) == (400, 7900)
    assert named in answer.get_json()["Description"]
    assert answered(send("GET")) == OFF


@pytest.mark.both_databases
def test_key_of_another_provider_is_not_taken_over(send: Ask) -> None:
    answered(send("PUT", HCAPTCHA))
    keys = {"PublicKey": "x", "PrivateKey": "********"}
    body = {"IsEnabled": True, "EnabledCaptcha": "GoogleRecaptchaV2", "GoogleRecaptchaV2": keys}
    assert refused(send("PUT", body)) == (400, 7900)
