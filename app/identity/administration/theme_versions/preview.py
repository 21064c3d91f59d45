"""Preview addresses: each shows every page with the look of one version, for a day."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.tenants.branding import Level, merged_brand
from app.contract.tenants.tenant_pages import THEME_PREVIEWS, BrandView, ThemePreviewView
from app.identity.administration.theme_versions import history, publication, signed_addresses
from app.identity.administration.theme_versions.publication import Look
from app.identity.administration.theme_versions.version_store import StoredThemeVersion
from app.identity.platform.context import Context

LIFETIME: Final = timedelta(hours=24)
_PURPOSE: Final = "theme_preview"


def create_address(context: Context, theme_id: str, version: int) -> tuple[str, datetime]:
    """Return an address on the tenant's host, and when it expires. Raises UnknownTheme, UnknownThemeVersion."""
    publication.version(context, publication.look_of(context, theme_id), version)
    expires_at = context.now + LIFETIME
    return f"{context.pages_url}{path(context, theme_id, version, expires_at)}", expires_at


def path(context: Context, theme_id: str, version: int, expires_at: datetime) -> str:
    """Return the path of the address of a version that exists."""
    return f"{THEME_PREVIEWS}/{signed_addresses.seal(context, _PURPOSE, [theme_id, version], expires_at)}"


def read(context: Context, token: str) -> ThemePreviewView:
    """Return what a preview shows. Raises UnknownThemeVersion: also for the address of another tenant, and for an expired one."""
    (theme_id, version), _ = signed_addresses.unseal(context, _PURPOSE, token)
    try:
        look = publication.look_of(context, theme_id)
    except errors.UnknownTheme:
        raise errors.UnknownThemeVersion from None
    found = publication.version(context, look, version)
    values = shown_values(context, look, found)
    name = values.pop("display_name", "") or context.tenant.name
    return ThemePreviewView(version=found.version, display_name=name, brand=BrandView.model_validate(values))


def shown_values(context: Context, look: Look, found: StoredThemeVersion) -> dict[str, Any]:
    """Return the members of the look that pages show with a version."""
    values, shown = history.usable(found.brand), publication.shown_brand(context)
    if look.item is not None and look.brand != shown:  # pages that choose it inherit what it does not set
        values = merged_brand([(Level.TENANT, history.stored(shown)), (Level.BRAND, values)]).values
    return values
