"""The rules of locks and of the lists of domains, addresses and networks, in addition to their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from app.contract import errors
from app.contract.tenants import access_restriction_operations
from app.contract.tenants.settings import TenantSettings
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Rules
from app.kit.resources.resource_values import ItemInput
from app.kit.web.proxies import is_refused

_LOCKS: Final = {
    "None": "none",
    "Suspend": "suspend",
    "Captcha": "captcha",
    "SecurityQuestion": "security_question",
    "Block": "block",
}


def read_lock_type(context: Context, item_input: ItemInput) -> None:  # noqa: ARG001 - the hook's signature
    if item_input.values:
        item_input.values["lockout", "type"] = _LOCKS[item_input.computed["login_locked_type"]]


def show_lock_type(context: Context, settings: TenantSettings, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    values["login_locked_type"] = next(shown for shown, stored in _LOCKS.items() if stored == settings.lockout.type)


def check_domains(context: Context, item_input: ItemInput) -> None:
    """Raises RestrictionNotSet, EntryInBothLists."""
    access = context.tenant.settings.email_access
    if not item_input.values:  # a GET
        _refuse_unset(access.allow, access.block)
        return
    for name in ("allow", "block"):
        path = ("email_access", name)
        item_input.values[path] = [entry.strip().lower() for entry in item_input.values.get(path, ())]
    _refuse_both(item_input.values["email_access", "allow"], item_input.values["email_access", "block"])


def check_addresses(context: Context, item_input: ItemInput) -> None:
    """Refuse lists that would refuse the caller itself. Raises RestrictionNotSet, EntryInBothLists, BadField."""
    settings = context.tenant.settings
    if not item_input.values:  # a GET
        _refuse_unset(settings.allowed_ips, settings.denied_ips)
        return
    allowed, denied = item_input.values.get(("allowed_ips",), []), item_input.values.get(("denied_ips",), [])
    _refuse_both(allowed, denied)
    if is_refused(context.raw.address, allowed, denied):
        name = "DeniedIPs" if is_refused(context.raw.address, (), denied) else "AllowedIPs"
        raise errors.BadField(f"{name}: this request's own address stays allowed; else nobody could take it back.")


def powers_of(context: Context, item: Item) -> Iterable[Power]:  # noqa: ARG001 - the hook's signature
    """Who has a return address gets the links and tokens that lead there."""
    if item.content.get("url_whitelist"):
        yield Power(ALL, "allowed return addresses")


def _refuse_unset(*lists: Iterable[str]) -> None:
    if not any(map(tuple, lists)):
        raise errors.RestrictionNotSet


def _refuse_both(allowed: Iterable[str], denied: Iterable[str]) -> None:
    if set(allowed) & set(denied):
        raise errors.EntryInBothLists


RULES: Final = {
    access_restriction_operations.LOCKS: Rules(on_input=read_lock_type, on_output=show_lock_type),
    access_restriction_operations.DOMAINS: Rules(on_input=check_domains),
    access_restriction_operations.ADDRESSES: Rules(on_input=check_addresses),
    access_restriction_operations.URLS: Rules(powers=powers_of),
}
