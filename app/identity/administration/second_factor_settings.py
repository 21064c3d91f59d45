"""The operations by which management programs state what second factors go through outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.configuration_model import ConfigurationModel
from app.contract.second_factors import managed_settings as contract
from app.contract.services_settings import DuoSettings, PushSettings
from app.identity.administration import second_factor_rules
from app.identity.directory.tenants import changes, service_secrets
from app.identity.directory.tenants.changes import TenantRow
from app.identity.platform.context import Context
from app.identity.platform.outbox.queue import Outbox
from app.kit.wire import Nothing, Wire

_PUSH_FIELDS: Final = {
    "service": "NotificationService", "app_name": "CustomAppName", "qr_code_width": "QRCodeWidth", "message": "Message",
    "region": "AWSsettings.Region", "android.platform_arn": "AndroidSettings.PlatformARN",
    "android.store_url": "AndroidSettings.PlaystoreUrl", "ios.platform_arn": "IOSsettings.PlatformARN",
    "ios.store_url": "IOSsettings.AppstoreUrl", "ios.bundle_id": "IOSsettings.BundleId",
    "ios.environment": "IOSsettings.Environment",
}  # fmt: skip
_DUO_FIELDS: Final = {"client_id": "ClientId", "api_host": "ApiHost", "redirect_uris": "RedirectURIs"}
_SWITCHES: Final = {
    "is_authenticator_enabled": "totp", "is_email_otp_authenticator_enabled": "email",
    "is_sms_otp_authenticator_enabled": "sms", "is_security_question_as_mfa_enabled": "security_questions",
    "minimum_security_questions_to_ask": "minimum_questions", "is_push_authenticator_enabled": "push",
    "is_duo_authenticator_enabled": "duo", "is_passkey_mfa_enabled": "passkey",
}  # fmt: skip
Kind = TypeVar("Kind", bound=ConfigurationModel)


@contract.read_push.implements
def read_push(context: Context, req: Nothing) -> contract.PushNotificationSettings:  # noqa: ARG001 - the token names the tenant
    held = _held(context)
    if not held.settings.get("push"):
        raise e.NoPushSettings
    return _shown_push(context, held)


@contract.add_push.implements
def add_push(context: Context, req: contract.PushNotificationSettings) -> contract.PushNotificationSettings:
    _refuse_nothing(req)
    held = _locked(context)
    secrets = _push_secrets(req)
    stated = _checked(PushSettings, _stated_push(req), _PUSH_FIELDS)
    tell_platforms(
        context.outbox,
        stated,
        service_secrets.decrypt_all(context.services.encryption, held.tenant_id, held.service_secrets),
        secrets,
    )
    return _shown_push(context, _kept(context, held, "push", stated, secrets, is_on=req.is_enabled))


@contract.change_push.implements
def change_push(context: Context, req: contract.PushNotificationSettings) -> contract.PushNotificationSettings:
    if not _held(context).settings.get("push"):
        raise e.NoPushSettings
    return add_push(context, req)


@contract.read_duo.implements
def read_duo(context: Context, req: Nothing) -> contract.DuoAuthenticatorSettings:  # noqa: ARG001 - the token names the tenant
    held = _held(context)
    if not held.settings.get("duo"):
        raise e.DuoMisconfigured
    return _shown_duo(context, held)


@contract.change_duo.implements
def change_duo(context: Context, req: contract.DuoAuthenticatorSettings) -> contract.DuoAuthenticatorSettings:
    _refuse_nothing(req)
    held = _locked(context)
    stated = {"client_id": req.client_id, "api_host": req.api_host, "redirect_uris": req.redirect_uris}
    try:
        checked = _checked(DuoSettings, _given(stated), _DUO_FIELDS)
    except e.BadField as refusal:
        raise e.MalformedDuoRedirect if "RedirectURIs" in str(refusal) else refusal from None
    secrets = _changed({"client_secret": req.client_secret})
    return _shown_duo(context, _kept(context, held, "duo", checked, secrets, is_on=req.is_enabled))


def _refuse_nothing(req: Wire) -> None:
    """Refuse a body without one setting: it would replace the stored settings by none."""
    if not req.model_fields_set:
        raise e.BadField("The body contains no setting.")


@contract.read_config.implements
def read_config(context: Context, req: Nothing) -> contract.TwoFactorConfig:  # noqa: ARG001 - the token names the tenant
    return _shown_config(_held(context))


@contract.change_config.implements
def change_config(context: Context, req: contract.TwoFactorConfig) -> contract.TwoFactorConfig:
    held = _locked(context)
    mode = "required" if req.is_required else "optional"
    factors = {name: getattr(req, member) for member, name in _SWITCHES.items()}
    settings = {
        **held.settings,
        "two_factor": mode if req.is_second_factor_authenticator_enabled else "disabled",
        "second_factors": {**held.settings.get("second_factors", {}), **factors},
    }
    if second_factor_rules.is_refused(held.settings, settings):
        raise e.BadField(f"The IsSecondFactorAuthenticatorEnabled is refused: {second_factor_rules.NEEDED}.")
    _written(context, settings, held.service_secrets, "two_factor")
    return _shown_config(_held(context))


def tell_platforms(
    outbox: Outbox, stated: PushSettings, before: service_secrets.Secrets, secrets: Mapping[str, str]
) -> None:
    """Let SNS know what Google or Apple gave the tenant, where that is new and there is an application to know it of."""
    held = before.get("push", {})
    key = {name: {**held, **secrets}.get(name, "") for name in ("access_key_id", "secret_access_key")}
    for member, platform in (("service_json", stated.android), ("apns_certificate", stated.ios)):
        given = secrets.get(member)
        is_new = given and given != held.get(member)
        if is_new and platform.enabled and platform.platform_arn and stated.region and all(key.values()):
            whose = {"region": stated.region, "platform_arn": platform.platform_arn}
            outbox.post("push_platform", {**key, **whose, member: given})


def _held(context: Context) -> TenantRow:
    found = changes.by_name(context.work, context.tenant.name)
    if found is None:
        raise e.MachineRefused
    return found


def _locked(context: Context) -> TenantRow:
    context.work.begin()
    found = changes.lock(context.work)
    if found is None:
        raise e.MachineRefused
    return found


def _kept(
    context: Context,
    held: TenantRow,
    service: str,
    stated: ConfigurationModel,
    secrets: Mapping[str, str],
    *,
    is_on: bool,
) -> TenantRow:
    """Keep a service's settings and its secrets, and its switch among the second factors."""
    factors = {**held.settings.get("second_factors", {}), service: is_on}
    content = stated.model_dump(mode="json", exclude_unset=True)
    settings = {**held.settings, service: content, "second_factors": factors}
    encryption = context.services.encryption
    sealed = service_secrets.encrypt_merged(encryption, held.tenant_id, held.service_secrets, **{service: secrets})
    _written(context, settings, sealed, service)
    return _held(context)


def _written(context: Context, settings: dict[str, Any], sealed: bytes | None, what: str) -> None:
    TenantSettings.model_validate(settings)
    changes.change(context.work, settings=settings, service_secrets=sealed)
    context.audit.record("settings.changed", what=what)


def _given(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _changed(secrets: Mapping[str, str | None]) -> dict[str, str]:
    """Return the secrets that a request states, without those that it shows masked."""
    return {name: value for name, value in secrets.items() if value and value != contract.MASKED}


def _checked(kind: type[Kind], stated: Mapping[str, Any], fields: Mapping[str, str]) -> Kind:
    try:
        return kind.model_validate(stated)
    except ValidationError as problem:
        first = problem.errors()[0]
        names = [str(part) for part in first["loc"] if isinstance(part, str)]
        path = ".".join(names)
        raise e.BadField(f"{fields.get(path, path)}: {first['msg']}.") from None


def _stated_push(req: contract.PushNotificationSettings) -> dict[str, Any]:
    aws, android, ios = req.aws_settings, req.android_settings, req.ios_settings
    parts: dict[str, Any] = {
        "service": req.notification_service, "app_name": req.custom_app_name, "qr_code_width": req.qr_code_width,
        "message": req.message, "region": aws.region if aws else None,
    }  # fmt: skip
    if android is not None:
        urls = {"platform_arn": android.platform_arn, "store_url": android.playstore_url or None}
        parts["android"] = _given({"enabled": android.enabled, **urls})
    if ios is not None:
        urls = {"platform_arn": ios.platform_arn, "store_url": ios.appstore_url or None}
        rest = {"bundle_id": ios.bundle_id, "environment": ios.environment}
        parts["ios"] = _given({"enabled": ios.enabled, **urls, **rest})
    return _given(parts)


def _push_secrets(req: contract.PushNotificationSettings) -> dict[str, str]:
    aws, android, ios = req.aws_settings, req.android_settings, req.ios_settings
    stated = {
        "access_key_id": aws.access_key_id if aws else None,
        "secret_access_key": aws.secret_access_key if aws else None,
        "service_json": android.service_json if android else None,
        "apns_certificate": ios.apns_certificate if ios else None,
    }
    return _changed(stated)


def _masks(context: Context, held: TenantRow, service: str) -> dict[str, str]:
    there = service_secrets.decrypt_all(context.services.encryption, held.tenant_id, held.service_secrets).get(
        service, {}
    )
    return {name: contract.MASKED for name, value in there.items() if value}


def _shown_push(context: Context, held: TenantRow) -> contract.PushNotificationSettings:
    settings = TenantSettings.model_validate(held.settings)
    push, masks = settings.push or PushSettings(), _masks(context, held, "push")
    platforms: dict[str, dict[str, Any]] = {
        "aws": {"region": push.region, **{name: masks.get(name) for name in ("access_key_id", "secret_access_key")}},
        "android": {"playstore_url": push.android.store_url, "service_json": masks.get("service_json")},
        "ios": {
            "appstore_url": push.ios.store_url, "apns_certificate": masks.get("apns_certificate"),
            "bundle_id": push.ios.bundle_id, "environment": push.ios.environment,
        },
    }  # fmt: skip
    for name, one in (("android", push.android), ("ios", push.ios)):
        platforms[name] |= {"enabled": one.enabled, "platform_arn": one.platform_arn}
    shown = {
        "is_enabled": settings.second_factors.push, "notification_service": push.service, "message": push.message,
        "custom_app_name": push.app_name, "qr_code_width": push.qr_code_width,
    }  # fmt: skip
    services_of = {f"{name}_settings": members for name, members in platforms.items()}
    return contract.PushNotificationSettings.model_validate({**shown, **services_of})


def _shown_duo(context: Context, held: TenantRow) -> contract.DuoAuthenticatorSettings:
    settings = TenantSettings.model_validate(held.settings)
    duo = settings.duo or DuoSettings()
    shown = {"client_id": duo.client_id, "api_host": duo.api_host, "redirect_uris": list(duo.redirect_uris)}
    secret = {"client_secret": _masks(context, held, "duo").get("client_secret")}
    return contract.DuoAuthenticatorSettings.model_validate(
        {**shown, **secret, "is_enabled": settings.second_factors.duo}
    )


def _shown_config(held: TenantRow) -> contract.TwoFactorConfig:
    settings = TenantSettings.model_validate(held.settings)
    switches = {member: getattr(settings.second_factors, name) for member, name in _SWITCHES.items()}
    return contract.TwoFactorConfig(
        is_second_factor_authenticator_enabled=settings.two_factor != "disabled",
        is_required=settings.two_factor == "required",
        **switches,
    )
