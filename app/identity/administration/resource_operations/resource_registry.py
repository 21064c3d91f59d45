"""The rules and the store of each resource, for its operations and for `gatehouse apply`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from app.identity.administration.settings_store import SettingsStore
from app.identity.authentication.registration import sott_rules
from app.identity.messaging.tenant_templates import template_rules
from app.identity.platform.resource_storage.items import Store
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.identity.platform.resource_storage.rules import Rules
from app.kit.resources.resource import InSettings, InTable, Resource


def _rules_in(package: str) -> dict[Resource, Rules]:
    """Return the `RULES` of the package's modules."""
    found = iter_modules(import_module(package).__path__)
    modules = [import_module(f"{package}.{module.name}") for module in found]
    return {resource: rules for module in modules for resource, rules in getattr(module, "RULES", {}).items()}


RULES: Final[dict[Resource, Rules]] = {
    **_rules_in("app.identity.administration.applications"),
    **_rules_in("app.identity.administration.tenant_settings"),
    **_rules_in("app.identity.administration.workflows"),
    **sott_rules.RULES,
    **template_rules.RULES,
}
_NONE: Final = Rules()


def rules_of(resource: Resource) -> Rules:
    """Return the rules of a resource."""
    return RULES.get(resource, _NONE)


def store_of(resource: Resource) -> Store:
    """Return the store of a resource. Raises LookupError if it has one of its own, which its rules do not name."""
    if isinstance(resource.backing, InSettings):
        return SettingsStore(resource.backing)
    if isinstance(resource.backing, InTable):
        return SHARED_TABLE
    store = rules_of(resource).store
    if store is None:
        raise LookupError(f"no store is named for {resource.kind}")
    return store
