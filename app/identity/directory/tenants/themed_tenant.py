"""The tenant with the look of the themes that a page or a message has (decision 0413)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from app.contract.errors import BadField
from app.contract.tenants.brand_levels import Level, ThemeNames, merged_brand
from app.contract.tenants.branding import Brand, stored_brand
from app.contract.themes.theme_operations import THEMES
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE, items_of, resources
from app.identity.platform.tenant import Tenant


def themes(context: Context) -> Iterator[Mapping[str, Any]]:
    """Yield the tenant's themes as they are stored."""
    return (item.content for item in items_of(context, THEMES).values())


def members_of(theme: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of `Brand` that a theme sets and that this version can use."""
    return stored_brand(theme.get("brand")).model_dump(exclude_unset=True)


def known_key(context: Context, text: str) -> str:
    """Return the key of one of the tenant's brands; empty for a text that is none."""
    return text if text and any(theme.get("brand_key") == text for theme in themes(context)) else ""


def host_theme(context: Context, host: str) -> str:
    """Return the name of the theme that a host chooses, if it is a verified custom domain; empty for none."""
    domain = custom_domain(context, host)
    return next((str(theme["name"]) for theme in themes(context) if domain and theme.get("brand_host") == domain), "")


def custom_domain(context: Context, host: str) -> str:
    """Return a host without its port if it is a verified custom domain of the tenant; empty for every other."""
    domain = host.partition(":")[0].lower()
    return domain if domain in context.tenant.custom_hosts else ""


def refuse_unknown(context: Context, member: str, name: str | None, former: str | None) -> None:
    """Refuse the name of no theme, unless it was there before. Raises BadField."""
    if not name or name == former:
        return
    if not any(item.content["name"] == name for item in SHARED_TABLE.items(StoreAccess.of(context), THEMES)):
        raise BadField(f"{member}: the name of a theme, or an empty one; there is no theme {name}.")


def themed_tenant(context: Context) -> Tenant:
    """Return the tenant with the look of the page that the hub shows; outside of a visit with that of the client and the host.

    Merged once for each version of the tenant and choice of themes.
    """
    named = named_themes(context)
    if not any(named):
        return context.tenant
    key = (context.tenant.tenant_id, context.tenant.version, named)
    themed = context.services.themed_tenants.get(key)
    if themed is None:
        themed = replace(context.tenant, brand=_merged(context, ThemeNames(*named)))
        context.services.themed_tenants.put(key, themed, context.work, resources, tenants)
    return themed


def _merged(context: Context, named: ThemeNames) -> Brand:
    known = {str(theme["name"]): members_of(theme) for theme in themes(context)}
    levels = ((level, known.get(name, {})) for level, name in named.levels())
    values = merged_brand([(Level.TENANT, context.tenant.brand.model_dump(exclude_unset=True)), *levels]).values
    return Brand.model_validate(_agreeing(values))


def named_themes(context: Context) -> tuple[str, ...]:
    """Return the names of the themes, as `ThemeNames`."""
    if context.visit is not None:
        return context.visit.themes[:4]
    client = context.client
    return (host_theme(context, context.raw.host), "", client.settings.theme_name if client is not None else "")


def _agreeing(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values without a picture that the scene does not show."""
    return values if values.get("scene") == "picture" else {**values, "picture": None}
