"""The rules of the captcha: one provider's key pair, its secret stored encrypted beside the settings."""

from __future__ import annotations

from typing import Any, Final

from app.contract import errors
from app.contract.captcha import captcha_operations
from app.contract.captcha.captcha_operations import CaptchaKeys, ScoredCaptchaKeys
from app.contract.tenants.settings import TenantSettings
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Rules
from app.kit.resources.resource import MASKED
from app.kit.resources.resource_values import ItemInput

_SECRET: Final = "captcha_secret"
_SECTIONS: Final = {
    "QQTencentCaptcha": ("tencent", "qq_tencent_captcha"),
    "GoogleRecaptchaV2": ("recaptcha_v2", "google_recaptcha_v2"),
    "GoogleRecaptchaV3": ("recaptcha_v3", "google_recaptcha_v3"),
    "HCaptcha": ("hcaptcha", "h_captcha"),
}
"""The provider in the settings, and the field with its keys, by `EnabledCaptcha`."""


def read_provider(context: Context, item_input: ItemInput) -> None:
    """Store the enabled provider and its keys. Raises BadField for missing keys, and for keys of another provider."""
    if not item_input.computed:  # a GET
        return
    enabled = item_input.computed["enabled_captcha"] if item_input.computed["is_enabled"] else None
    if item_input.computed["is_enabled"] and enabled is None:
        raise errors.BadField("EnabledCaptcha: the captcha to use, because IsEnabled is true.")
    for name, (_, section) in _SECTIONS.items():
        if (
            name != enabled
            and (other := item_input.computed[section]) is not None
            and (other.public_key or other.private_key)
        ):
            raise errors.BadField(f"{name}: no keys, because EnabledCaptcha is {enabled or 'not set'}.")
    if enabled is None:
        item_input.values["captcha", "provider"], item_input.values["captcha", "site_key"] = "own", ""
        return
    provider, section = _SECTIONS[enabled]
    keys: CaptchaKeys = item_input.computed[section] or CaptchaKeys()
    if not keys.public_key:
        raise errors.BadField(f"{enabled}.PublicKey: the key that the provider issued.")
    if keys.private_key and keys.private_key != MASKED:
        item_input.secrets[_SECRET] = keys.private_key
    elif context.tenant.settings.captcha.provider != provider or context.tenant.sealed_captcha_secret is None:
        raise errors.BadField(f"{enabled}.PrivateKey: the key that the provider issued.")
    item_input.values["captcha", "provider"], item_input.values["captcha", "site_key"] = provider, keys.public_key
    if isinstance(keys, ScoredCaptchaKeys):
        item_input.values["captcha", "threshold"] = keys.threshold


def show_provider(context: Context, settings: TenantSettings, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    captcha = settings.captcha
    enabled = next((name for name, (provider, _) in _SECTIONS.items() if provider == captcha.provider), None)
    values |= {"is_enabled": enabled is not None, "enabled_captcha": enabled}
    values |= {section: None for _, section in _SECTIONS.values()}
    if enabled is not None:
        keys = {"public_key": captcha.site_key, "private_key": MASKED, "threshold": captcha.threshold}
        values[_SECTIONS[enabled][1]] = keys


def store_secret(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
    """Store the new secret; remove it with the provider."""
    if after.content.get("captcha", {}).get("provider", "own") == "own":
        tenant_writes.change(context.work, captcha_secret=None)
    elif secret := after.secrets.get(_SECRET):
        place = tenant_writes.captcha_associated_data(context.tenant.tenant_id)
        tenant_writes.change(context.work, captcha_secret=context.services.encryption.encrypt(secret.encode(), place))


RULES: Final = {
    captcha_operations.CAPTCHA: Rules(on_input=read_provider, on_output=show_provider, after_request=store_secret),
}
