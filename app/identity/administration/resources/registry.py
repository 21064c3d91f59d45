"""The rules and the store of each resource, for its operations and for `gatehouse apply`."""

from __future__ import annotations

from typing import Final

from app.identity.administration.applications import (
    identity_providers,
    jwt_apps,
    oauth_clients,
    saml_apps,
    storefronts,
)
from app.identity.administration.applications import (
    initial_access_tokens as initial_token_administration,
)
from app.identity.administration.settings_store import SettingsStore
from app.identity.administration.tenant_settings import (
    access_restrictions,
    consent_forms,
    custom_domains,
    custom_object_types,
    registration_schema,
    themes,
)
from app.identity.administration.tenant_settings import captcha as captcha_settings
from app.identity.administration.tenant_settings import second_factors as second_factor_settings
from app.identity.administration.tenant_settings import security as security_settings
from app.identity.authentication.registration import sott_rules
from app.identity.messaging.tenant_templates import rules as template_rules
from app.identity.platform.resources.items import Store
from app.identity.platform.resources.rules import Rules
from app.identity.platform.resources.store import SHARED_TABLE
from app.kit.resources.resource import InSettings, InTable, Resource

RULES: Final[dict[Resource, Rules]] = {
    **access_restrictions.RULES,
    **captcha_settings.RULES,
    **consent_forms.RULES,
    **custom_domains.RULES,
    **custom_object_types.RULES,
    **initial_token_administration.RULES,
    **jwt_apps.RULES,
    **oauth_clients.RULES,
    **identity_providers.RULES,
    **registration_schema.RULES,
    **saml_apps.RULES,
    **second_factor_settings.RULES,
    **security_settings.RULES,
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
