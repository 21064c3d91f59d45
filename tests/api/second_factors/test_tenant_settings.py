"""Management of second factor settings: push, Duo and enabled factors."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import NoEncryption, load_pem_private_key, pkcs12

from app.contract.tenants.settings import TenantSettings
from app.identity import create_services
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.reencryption import reencrypt
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.platform import saml_certificates
from tests.support.accounts.mailbox import sent_messages
from tests.support.operations.resources import Manager, named
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

AT = "/v2/manage/2fa"
PUSH, DUO, CONFIG = f"{AT}/push-notification-settings", f"{AT}/duo-authenticator-settings", f"{AT}/config"
ALL = tuple(f"security:{action}" for action in ("read", "create", "update"))
PUSH_SETTINGS: dict[str, Any] = {
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
        **PUSH_SETTINGS,
        "AWSsettings": {**PUSH_SETTINGS["AWSsettings"], "AccessKeyId": "********", "SecretAccessKey": "********"},
        "AndroidSettings": {**PUSH_SETTINGS["AndroidSettings"], "ServiceJson": "********"},
    }


def stored_secrets(tenant: TenantServer, service: str) -> Any:
    tenant.services.directory.clear_cache()
    found = tenant.services.directory.by_name(tenant.name)
    assert found is not None
    return tenant_secrets.secrets_of(tenant.services.encryption, found, service)


def test_push_settings_are_created_masked_and_changed(acme: TenantServer) -> None:
    token = machine(acme, *ALL)
    assert refused(ask(acme, token, "GET", PUSH)) == (404, 8050)
    assert refused(ask(acme, token, "PUT", PUSH, PUSH_SETTINGS)) == (404, 8050)
    assert answered(ask(acme, token, "POST", PUSH, PUSH_SETTINGS)) == masked()
    assert answered(ask(acme, token, "GET", PUSH)) == masked()
    assert stored_secrets(acme, "push")["secret_access_key"] == "secret of acme"
    changed = {**masked(), "Message": "Two-step verification", "IsEnabled": False}
    assert answered(ask(acme, token, "PUT", PUSH, changed)) == changed
    assert stored_secrets(acme, "push")["secret_access_key"] == "secret of acme"
    assert answered(ask(acme, token, "GET", CONFIG))["IsPushAuthenticatorEnabled"] is False


def test_google_service_json_is_sent_to_sns_once(acme: TenantServer) -> None:
    token = machine(acme, *ALL)
    for body in (PUSH_SETTINGS, masked(), PUSH_SETTINGS):
        answered(ask(acme, token, "POST", PUSH, body))
    (message,) = sent_messages(acme.services, acme.tenant_id, "push_platform")
    assert message["service_json"] == PUSH_SETTINGS["AndroidSettings"]["ServiceJson"]
    assert message["platform_arn"] == PUSH_SETTINGS["AndroidSettings"]["PlatformARN"]


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
    answer = ask(acme, machine(acme, *ALL), "POST", PUSH, {**PUSH_SETTINGS, member: value})
    assert refused(answer) == (400, 7900)
    assert named in answer.text


def test_duo_settings_are_saved_and_masked(acme: TenantServer) -> None:
    token = machine(acme, *ALL)
    assert refused(ask(acme, token, "GET", DUO)) == (403, 1331)
    settings = {"IsEnabled": True, "ClientId": "DIXX", "ClientSecret": "s" * 40, "ApiHost": "api-1.duosecurity.com"}
    settings["RedirectURIs"] = ["https://shop.example/duo"]
    masked_settings = {**settings, "ClientSecret": "********"}
    assert answered(ask(acme, token, "PUT", DUO, settings)) == masked_settings
    assert (
        answered(ask(acme, token, "PUT", DUO, masked_settings))
        == masked_settings
        == answered(ask(acme, token, "GET", DUO))
    )
    assert stored_secrets(acme, "duo")["client_secret"] == "s" * 40
    assert refused(ask(acme, token, "PUT", DUO, {**settings, "RedirectURIs": ["javascript:x"]})) == (403, 1336)
    assert refused(ask(acme, token, "PUT", DUO, {**settings, "ApiHost": "evil.example"})) == (400, 7900)


def test_factor_switches_are_saved(acme: TenantServer) -> None:
    token = machine(acme, *ALL)
    settings = {
        "IsSecondFactorAuthenticatorEnabled": True, "IsRequired": True, "IsAuthenticatorEnabled": True,
        "IsEmailOtpAuthenticatorEnabled": False, "IsSmsOtpAuthenticatorEnabled": True,
        "IsSecurityQuestionAsMFAEnabled": False, "MinimumSecurityQuestionsToAsk": 3, "IsPushAuthenticatorEnabled": True,
        "IsDuoAuthenticatorEnabled": False, "IsPasskeyMFAEnabled": False,
    }  # fmt: skip
    assert answered(ask(acme, token, "PUT", CONFIG, settings)) == settings == answered(ask(acme, token, "GET", CONFIG))
    acme.services.directory.clear_cache()
    found = acme.services.directory.by_name(acme.name)
    assert found is not None
    assert (found.settings.two_factor, found.settings.second_factors.sms) == ("required", True)


@pytest.mark.parametrize(("method", "path"), [("POST", PUSH), ("PUT", DUO), ("PUT", CONFIG), ("GET", PUSH)])
def test_other_scope_is_refused(acme: TenantServer, method: str, path: str) -> None:
    body = None if method == "GET" else PUSH_SETTINGS
    assert refused(ask(acme, machine(acme, "template:read"), method, path, body)) == (403, 6002)


@pytest.mark.database_alone
def test_service_secrets_are_reencrypted_under_new_secret(acme: TenantServer) -> None:
    answered(ask(acme, machine(acme, *ALL), "POST", PUSH, PUSH_SETTINGS))
    current = acme.services.settings
    new_secret = b"another-secret-of-at-least-32-chars-x"
    rotating = create_services(replace(current, secrets=(new_secret, *current.secrets)), acme.services.clock)
    try:
        found = rotating.directory.by_name(acme.name)
        assert found is not None
        assert not rotating.encryption.is_current(found.sealed_service_secrets or b"")
        reencrypt(rotating)
        rotating.directory.clear_cache()
        reencrypted = rotating.directory.by_name(acme.name)
        assert reencrypted is not None
        assert rotating.encryption.is_current(reencrypted.sealed_service_secrets or b"")
        assert tenant_secrets.secrets_of(rotating.encryption, reencrypted, "push")["access_key_id"] == "AKIDACME"
    finally:
        restored = create_services(replace(current, secrets=(*current.secrets, new_secret)), acme.services.clock)
        reencrypt(restored)


def _apns() -> str:
    """Return a PKCS 12 file without a password, in base64."""
    certificate, pem = saml_certificates.generate("push", datetime(2026, 1, 1, tzinfo=UTC))
    key, loaded = load_pem_private_key(pem.encode(), None), x509.load_pem_x509_certificate(certificate.encode())
    assert isinstance(key, RSAPrivateKey)
    return b64encode(pkcs12.serialize_key_and_certificates(b"push", key, loaded, None, NoEncryption())).decode()


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize(
    ("part", "member", "value"),
    [
        ("AndroidSettings", "ServiceJson", "{no"),
        ("AndroidSettings", "ServiceJson", '["a list"]'),
        ("AndroidSettings", "ServiceJson", '{"n": NaN}'),
        ("IOSsettings", "ApnsCertificate", "%%"),
        ("IOSsettings", "ApnsCertificate", b64encode(b"no certificate").decode()),
        ("IOSsettings", "ApnsCertificate", "MIICAQMwggI="),
        ("IOSsettings", "Environment", "moon"),
    ],
)
def test_unusable_push_text_is_refused(acme: TenantServer, method: str, part: str, member: str, value: str) -> None:
    token = machine(acme, *ALL)
    before = answered(ask(acme, token, "POST", PUSH, PUSH_SETTINGS))
    answer = ask(acme, token, method, PUSH, {**before, part: {**before[part], member: value}})
    assert refused(answer) == (400, 7900)
    assert f"{part}.{member}" in answer.get_json()["Description"]
    assert answered(ask(acme, token, "GET", PUSH)) == before


def test_usable_push_texts_are_stored(acme: TenantServer) -> None:
    token, certificate = machine(acme, *ALL), _apns()
    account = '{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n"}'
    for environment in ("Sandbox", "development", "production"):
        body = {
            "AndroidSettings": {"ServiceJson": account},
            "IOSsettings": {"ApnsCertificate": certificate, "Environment": environment},
        }
        assert answered(ask(acme, token, "POST", PUSH, body))["IOSsettings"]["Environment"] == environment
    assert stored_secrets(acme, "push") == {"service_json": account, "apns_certificate": certificate}


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("secrets: {service_json: '{no'}", "service_json"),
        ("secrets: {apns_certificate: '%%'}", "apns_certificate"),
        ("ios: {environment: moon}", "environment"),
    ],
)
def test_unusable_push_text_of_a_file_is_refused(acme: TenantServer, member: str, value: str) -> None:
    manage = Manager(acme, named("push"))
    with pytest.raises(ConfigurationError, match=value):
        manage.apply(f"tenants:\n  - name: {acme.name}\n    push: {{{member}}}\n")


def test_unknown_environment_of_an_older_version_is_read(acme: TenantServer) -> None:
    stored = TenantSettings.model_validate({"push": {"ios": {"environment": "moon"}}})
    assert stored.push is not None
    assert not stored.push.ios.is_sandbox
