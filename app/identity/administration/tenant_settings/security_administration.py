"""The rules of passkeys, password policy, lifetimes and authenticator apps, in addition to their declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from app.contract import errors
from app.contract.passkeys.settings import RelatedOrigin
from app.contract.tenants import security_settings_operations
from app.contract.tenants.security_settings_operations import DAY, HOUR, MINUTE
from app.contract.tenants.settings import PasswordPolicy, TenantSettings
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.tenants.urls import webauthn_origins
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Rules
from app.kit.resources.resource_values import ItemInput, value_at

_LIFETIMES: Final[Mapping[str, tuple[str, int]]] = {
    "access_token_ttl": ("access_token_minutes", MINUTE),
    "refresh_token_ttl": ("refresh_token_minutes", MINUTE),
    "session_idle_ttl": ("session_idle_minutes", MINUTE),
    "session_ttl": ("session_absolute_hours", HOUR),
    "remember_me_ttl": ("remember_days", DAY),
}
"""The setting of each lifetime, and its unit in seconds."""
_ORIGIN: Final[TypeAdapter[str]] = TypeAdapter(RelatedOrigin, config={"defer_build": True})
_MAX_RELATED: Final = 20
_NAME: Final = ("passkey_settings", "name")
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_CLASSES: Final = ("lowercase", "uppercase", "number", "symbol")


def read_passkeys(context: Context, item_input: ItemInput) -> None:
    if not item_input.values:  # a GET
        if not context.tenant.settings.passkeys:
            raise errors.PasskeysOff
        return
    item_input.values["passkey_settings", "selection"] = (item_input.computed["passkey_selection"] or "Both").lower()
    if item_input.values.get(_NAME) == context.tenant.display_name:  # as a response shows it
        del item_input.values[_NAME]
        item_input.cleared.add(_NAME)
    item_input.values["passkey_settings", "rp_id"] = _read_rp_id(context, item_input.computed["rp_id"])
    related = [item for item in item_input.computed["rp_origins"] or () if item.rstrip("/") not in context.own_urls]
    if len(related) > _MAX_RELATED:
        raise errors.BadField(f"RPOrigins: at most {_MAX_RELATED} beside the tenant's own.")
    try:
        item_input.values["passkey_settings", "related_origins"] = [_ORIGIN.validate_python(item) for item in related]
    except ValidationError as problem:
        raise errors.BadField(f"RPOrigins: {problem.errors(include_url=False)[0]['msg']}.") from None


def _read_rp_id(context: Context, text: str | None) -> str | None:
    """Return the setting for an RPID: None for the tenant's own host. Raises BadField if it cannot be one, or passkeys would be lost."""
    current, own = webauthn_origins.rp_id(context), webauthn_origins.own_host(context)
    requested = text.lower() if text else current
    hosts = (own, *context.tenant.custom_hosts)
    if requested != own and (
        "." not in requested or not any(webauthn_origins.is_within(host, requested) for host in hosts[1:])
    ):
        raise errors.BadField(f"RPID: {own}, a verified custom domain, or a domain above one; found {requested[:100]}.")
    if requested != current and (count := passkey_store.count_accounts(context.work)):
        raise errors.BadField(f"RPID: {current}, because {accounts_sentence(count)} for it, which would stop working.")
    return None if requested == own else requested


def accounts_sentence(count: int) -> str:
    """Return the start of a sentence about accounts with passkeys."""
    return "1 account has passkeys" if count == 1 else f"{count} accounts have passkeys"


def show_passkeys(context: Context, settings: TenantSettings, values: dict[str, Any]) -> None:
    values["passkey_selection"] = settings.passkey_settings.selection.title()
    values["rp_display_name"] = settings.passkey_settings.name or context.tenant.display_name
    values["rp_id"] = webauthn_origins.rp_id(context, settings)
    values["rp_origins"] = list(dict.fromkeys([*context.own_urls, *settings.passkey_settings.related_origins]))


def powers_of(context: Context, item: Item) -> Iterator[Power]:  # noqa: ARG001 - the hook's signature
    """Who has a related origin can have people's passkeys sign there."""
    if value_at(item.content, ("passkey_settings", "related_origins")):
        yield Power(ALL, "related origins of passkeys")


def read_password_policy(context: Context, item_input: ItemInput) -> None:
    if not item_input.values:
        return
    computed = item_input.computed
    if computed["dictionary_password_validation"] != computed["common_password_prevention_validation"]:
        raise errors.BadField(
            "DictionaryPasswordValidation: the value of CommonPasswordPreventionValidation; one list serves both."
        )
    item_input.values["password_policy", "common_check"] = computed["common_password_prevention_validation"]
    days = computed["expiration_frequency"] * _DAYS[computed["expiration_frequency_type"]]
    item_input.values["password_policy", "expiry_days"] = days
    for name, value in _read_rules(context, computed["password_validation_rules"]).items():
        item_input.values["password_policy", name] = value


def _read_rules(context: Context, text: str) -> dict[str, Any]:
    """Return the settings of `PasswordValidationRules`; an empty text leaves them unchanged. Raises BadField."""
    policy = context.tenant.settings.password_policy
    if not text.strip():
        return {
            name: getattr(policy, name) for name in ("min_length", "max_length", *map("require_{}".format, _CLASSES))
        }
    default = PasswordPolicy()
    rules: dict[str, Any] = {"min_length": default.min_length, "max_length": default.max_length}
    rules |= {f"require_{name}": False for name in _CLASSES}
    for rule in (part.strip() for part in text.split("|")):
        name, _, number = rule.rstrip("]").partition("[")
        if name in ("min_length", "max_length") and number.isascii() and number.isdigit():
            rules[name] = int(number)
        elif rule in _CLASSES:
            rules[f"require_{rule}"] = True
        else:
            raise errors.BadField(
                f"PasswordValidationRules: min_length[n], max_length[n], {', '.join(_CLASSES)}, with | between them."
            )
    return rules


def show_password_policy(context: Context, settings: TenantSettings, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    policy = settings.password_policy
    values["dictionary_password_validation"] = policy.common_check
    values["common_password_prevention_validation"] = policy.common_check
    values["expiration_frequency"] = policy.expiry_days
    values["expiration_frequency_type"] = "day"
    classes = [name for name in _CLASSES if getattr(policy, f"require_{name}")]
    lengths = [f"min_length[{policy.min_length}]", f"max_length[{policy.max_length}]"]
    values["password_validation_rules"] = "|".join((*lengths, *classes))


def read_lifetimes(context: Context, item_input: ItemInput) -> None:  # noqa: ARG001 - the hook's signature
    if not item_input.values:
        return
    for name, (setting, unit) in _LIFETIMES.items():
        seconds = item_input.computed[name]
        if seconds % unit:
            field = security_settings_operations.SessionConfig.model_fields[name]
            raise errors.BadField(f"{field.alias}: a multiple of {unit} seconds.")
        item_input.values[setting,] = seconds // unit


def show_lifetimes(context: Context, settings: TenantSettings, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    for name, (setting, unit) in _LIFETIMES.items():
        values[name] = getattr(settings, setting) * unit


def refuse_shared_key(context: Context, item_input: ItemInput) -> None:  # noqa: ARG001 - the hook's signature
    if item_input.computed["account_secret_key"]:
        raise errors.BadField("AccountSecretKey: null; every account has a random secret of its own.")


def show_no_key(context: Context, settings: TenantSettings, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    values["account_secret_key"] = None


RULES: Final = {
    security_settings_operations.PASSKEYS: Rules(on_input=read_passkeys, on_output=show_passkeys, powers=powers_of),
    security_settings_operations.PASSWORDS: Rules(on_input=read_password_policy, on_output=show_password_policy),
    security_settings_operations.SESSIONS: Rules(on_input=read_lifetimes, on_output=show_lifetimes),
    security_settings_operations.TOTP: Rules(on_input=refuse_shared_key, on_output=show_no_key),
}
