"""Management programs state what second factors go through outside (interface tenant-config.md section 8)."""

from __future__ import annotations

from typing import Any

import pytest

from app.identity import create_services
from app.identity.administration.reencryption import reencrypt
from app.identity.directory.tenants import tenant_secrets
from tests.support.machines import ask, machine
from tests.support.mailbox import sent_messages
from tests.support.tenant_server import TenantServer, answered, refused

AT = "/v2/manage/2fa"
PUSH, DUO, CONFIG = f"{AT}/push-notification-settings", f"{AT}/duo-authenticator-settings", f"{AT}/config"
ALL = tuple(f"security:{what}" for what in ("read", "create", "update"))
STATED: dict[str, Any] = {
    "IsEnabled": True,
    "NotificationService": "AWS SNS",
    "CustomAppName": "Acme Keys",
    "QRCodeWidth": 300,
    "Message": "Sign in at Acme?",
    "AWSsettings": {"AccessKeyId": "AKIDACME", "SecretAccessKey": "secret of acme", "Region": "eu-central-1"},
    "AndroidSettings": {
        "Enabled": True,
        "PlatformARN": "arn:aws:sns:eu-central-1:123456789012:app/GCM/acme",
        "PlaystoreUrl": "https://play.example/acme",
        "ServiceJson": '{"type": "service_account"}',
    },
    "IOSsettings": {
        "Enabled": False, "AppstoreUrl": None, "PlatformARN": "", "BundleId": "", "ApnsCertificate": None,
        "Environment": "production",
    },
}  # fmt: skip
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)


def masked() -> dict[str, Any]:
    return {
        **STATED,
        "AWSsettings": {**STATED["AWSsettings"], "AccessKeyId": "********", "SecretAccessKey": "********"},
        "AndroidSettings": {**STATED["AndroidSettings"], "ServiceJson": "********"},
    }


def held(tenant: TenantServer, service: str) -> Any:
    tenant.services.directory.clear_cache()
    found = tenant.services.directory.by_name(tenant.name)
    assert found is not None
    return tenant_secrets.secrets_of(tenant.services.encryption, found, service)


def test_push_settings_are_created_masked_and_changed(acme: TenantServer) -> None:
    token = machine(acme, *ALL)
    assert refused(ask(acme, token, "GET", PUSH)) == (404, 8050)
    assert refused(ask(acme, token, "PUT", PUSH, STATED)) == (404, 8050)
    assert answered(ask(acme, token, "POST", PUSH, STATED)) == masked()
    assert answered(ask(acme, token, "GET", PUSH)) == masked()
    assert held(acme, "push")["secret_access_key"] == "secret of acme"
    changed = {**masked(), "Message": "Is it you?", "IsEnabled": False}
    assert answered(ask(acme, token, "PUT", PUSH, changed)) == changed
    assert held(acme, "push")["secret_access_key"] == "secret of acme"
    assert answered(ask(acme, token, "GET", CONFIG))["IsPushAuthenticatorEnabled"] is False


def test_google_service_json_is_sent_to_sns_once(acme: TenantServer) -> None:
    token = machine(acme, *ALL)
    for body in (STATED, masked(), STATED):
        answered(ask(acme, token, "POST", PUSH, body))
    (brought,) = sent_messages(acme.services, acme.tenant_id, "push_platform")
    assert brought["service_json"] == STATED["AndroidSettings"]["ServiceJson"]
    assert brought["platform_arn"] == STATED["AndroidSettings"]["PlatformARN"]


@pytest.mark.parametrize(
    ("member", "value", "named"),
    [
        ("NotificationService", "Pigeons", "NotificationService"),
        ("QRCodeWidth", 5, "QRCodeWidth"),
        ("AWSsettings", {"Region": "evil.example/?"}, "AWSsettings.Region"),
        ("AndroidSettings", {"Enabled": True, "PlatformARN": "arn:evil"}, "AndroidSettings.PlatformARN"),
    ],
)
def test_malformed_setting_is_named(acme: TenantServer, member: str, value: Any, named: str) -> None:
    answer = ask(acme, machine(acme, *ALL), "POST", PUSH, {**STATED, member: value})
    assert refused(answer) == (400, 7900)
    assert named in answer.text


def test_duo_settings_are_saved_and_masked(acme: TenantServer) -> None:
    token = machine(acme, *ALL)
    assert refused(ask(acme, token, "GET", DUO)) == (403, 1331)
    stated = {"IsEnabled": True, "ClientId": "DIXX", "ClientSecret": "s" * 40, "ApiHost": "api-1.duosecurity.com"}
    stated["RedirectURIs"] = ["https://shop.example/duo"]  # type: ignore[assignment]  # a list among texts
    shown = {**stated, "ClientSecret": "********"}
    assert answered(ask(acme, token, "PUT", DUO, stated)) == shown
    assert answered(ask(acme, token, "PUT", DUO, shown)) == shown == answered(ask(acme, token, "GET", DUO))
    assert held(acme, "duo")["client_secret"] == "s" * 40
    assert refused(ask(acme, token, "PUT", DUO, {**stated, "RedirectURIs": ["javascript:x"]})) == (403, 1336)
    assert refused(ask(acme, token, "PUT", DUO, {**stated, "ApiHost": "evil.example"})) == (400, 7900)


def test_factor_switches_are_saved(acme: TenantServer) -> None:
    token = machine(acme, *ALL)
    stated = {
        "IsSecondFactorAuthenticatorEnabled": True, "IsRequired": True, "IsAuthenticatorEnabled": True,
        "IsEmailOtpAuthenticatorEnabled": False, "IsSmsOtpAuthenticatorEnabled": True,
        "IsSecurityQuestionAsMFAEnabled": False, "MinimumSecurityQuestionsToAsk": 3, "IsPushAuthenticatorEnabled": True,
        "IsDuoAuthenticatorEnabled": False, "IsPasskeyMFAEnabled": False,
    }  # fmt: skip
    assert answered(ask(acme, token, "PUT", CONFIG, stated)) == stated == answered(ask(acme, token, "GET", CONFIG))
    acme.services.directory.clear_cache()
    found = acme.services.directory.by_name(acme.name)
    assert found is not None
    assert (found.settings.two_factor, found.settings.second_factors.sms) == ("required", True)


@pytest.mark.parametrize(("method", "path"), [("POST", PUSH), ("PUT", DUO), ("PUT", CONFIG), ("GET", PUSH)])
def test_other_scope_is_refused(acme: TenantServer, method: str, path: str) -> None:
    body = None if method == "GET" else STATED
    assert refused(ask(acme, machine(acme, "template:read"), method, path, body)) == (403, 6002)


@pytest.mark.database_alone
def test_service_secrets_are_reencrypted_under_new_secret(acme: TenantServer) -> None:
    answered(ask(acme, machine(acme, *ALL), "POST", PUSH, STATED))
    ours = acme.services.settings
    fresh = b"another-secret-of-at-least-32-chars-x"
    both = create_services(type(ours)(**{**vars(ours), "secrets": (fresh, *ours.secrets)}), acme.services.clock)
    try:
        found = both.directory.by_name(acme.name)
        assert found is not None
        assert not both.encryption.is_current(found.sealed_service_secrets or b"")
        reencrypt(both)
        both.directory.clear_cache()
        again = both.directory.by_name(acme.name)
        assert again is not None
        assert both.encryption.is_current(again.sealed_service_secrets or b"")
        assert tenant_secrets.secrets_of(both.encryption, again, "push")["access_key_id"] == "AKIDACME"
    finally:
        back = create_services(type(ours)(**{**vars(ours), "secrets": (*ours.secrets, fresh)}), acme.services.clock)
        reencrypt(back)
