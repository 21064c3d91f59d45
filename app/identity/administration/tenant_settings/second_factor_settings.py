"""The rules of the second factors' settings, in addition to their declarations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.contract import errors
from app.contract.second_factors import second_factor_settings_operations
from app.contract.tenants.settings import TenantSettings
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Rules
from app.kit.resources.resource_values import ItemInput

NEEDED = "second factors need email_verification: required"


def register_platforms(context: Context, before: Item | None, after: Item) -> None:
    """Give SNS the new credentials from Google or Apple, if there is an application to register them for."""
    settings = TenantSettings.model_validate(after.content).push
    key = {name: after.secrets.get(name, "") for name in ("access_key_id", "secret_access_key")}
    if settings is None or not settings.region or not all(key.values()):
        return
    for member, platform in (("service_json", settings.android), ("apns_certificate", settings.ios)):
        credential = after.secrets.get(member)
        is_new = credential and (before is None or credential != before.secrets.get(member))
        if is_new and platform.enabled and platform.platform_arn:
            target = {"region": settings.region, "platform_arn": platform.platform_arn}
            context.outbox.post("push_platform", {**key, **target, member: credential})


def read_mode(context: Context, item_input: ItemInput) -> None:  # noqa: ARG001 - the hook's signature
    if item_input.computed:
        if item_input.computed["is_required"] and not item_input.computed["is_second_factor_authenticator_enabled"]:
            raise errors.BadField("IsRequired: false, because IsSecondFactorAuthenticatorEnabled is false.")
        mode = "required" if item_input.computed["is_required"] else "optional"
        is_on = item_input.computed["is_second_factor_authenticator_enabled"]
        item_input.values["two_factor",] = mode if is_on else "disabled"


def show_mode(context: Context, settings: TenantSettings, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    values["is_second_factor_authenticator_enabled"] = settings.two_factor != "disabled"
    values["is_required"] = settings.two_factor == "required"


def refuse_unverified_emails(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
    if before is not None and is_unsafe_change(before.content, after.content):
        raise errors.BadField(f"The IsSecondFactorAuthenticatorEnabled is refused: {NEEDED}.")


def is_unsafe_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether a change of the stored settings enables second factors without verified addresses (decision 0164)."""
    return _is_unsafe(after) and not _is_unsafe(before)


def _is_unsafe(settings: Mapping[str, Any]) -> bool:
    parsed = TenantSettings.model_validate(settings)
    return parsed.two_factor != "disabled" and parsed.email_verification != "required"


RULES: Final = {
    second_factor_settings_operations.PUSH: Rules(after_request=register_platforms),
    second_factor_settings_operations.CONFIG: Rules(
        on_input=read_mode, on_output=show_mode, before_write=refuse_unverified_emails
    ),
}
