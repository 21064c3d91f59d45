"""The rules and the store of each resource, for its operations and for `gatehouse apply`."""

from __future__ import annotations

from typing import Final

from app.identity.administration.applications import (
    identity_providers,
    initial_access_token_administration,
    jwt_apps,
    oauth_clients,
    saml_apps,
    storefronts,
)
from app.identity.administration.settings_store import SettingsStore
from app.identity.administration.tenant_settings import (
    access_restrictions,
    captcha_settings,
    consent_forms,
    custom_domains,
    custom_object_types,
    registration_schema,
    second_factor_settings,
    security_administration,
    themes,
)
from app.identity.authentication.registration import sott_rules
from app.identity.messaging.tenant_templates import template_rules
from app.identity.platform.resource_storage.items import Store
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.identity.platform.resource_storage.rules import Rules
from app.kit.resources.resource import InSettings, InTable, Resource

RULES: Final[dict[Resource, Rules]] = {
    **access_restrictions.RULES,
    **captcha_settings.RULES,
    **consent_forms.RULES,
    **custom_domains.RULES,
    **custom_object_types.RULES,
    **initial_access_token_administration.RULES,
    **jwt_apps.RULES,
    **oauth_clients.RULES,
    **identity_providers.RULES,
    **registration_schema.RULES,
    **saml_apps.RULES,
    **second_factor_settings.RULES,
    **security_administration.RULES,
    **sott_rules.RULES,
    **storefronts.RULES,
    **template_rules.RULES,
    **themes.RULES,
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
