"""Preview addresses: each shows every page with the look of one version, for a day."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic_core import from_json, to_json

from app.contract import errors
from app.contract.tenants.branding import Level, merged_brand
from app.contract.tenants.tenant_pages import THEME_PREVIEWS, BrandView, ThemePreviewView
from app.identity.administration.theme_versions import history, publication
from app.identity.administration.theme_versions.publication import Look
from app.identity.administration.theme_versions.version_store import StoredThemeVersion
from app.identity.platform.context import Context
from app.identity.platform.encryption import DecryptionError

LIFETIME: Final = timedelta(hours=24)


def create_address(context: Context, theme_id: str, version: int) -> tuple[str, datetime]:
    """Return an address on the tenant's host, and when it expires. Raises UnknownTheme, UnknownThemeVersion."""
    publication.version(context, publication.look_of(context, theme_id), version)
    expires_at = context.now + LIFETIME
    facts = to_json([theme_id, version, int(expires_at.timestamp())])
    token = urlsafe_b64encode(context.services.encryption.encrypt(facts, _associated_data(context))).rstrip(b"=")
    return f"{context.pages_url}{THEME_PREVIEWS}/{token.decode()}", expires_at


def read(context: Context, token: str) -> ThemePreviewView:
    """Return what a preview shows. Raises UnknownThemeVersion: also for the address of another tenant, and for an expired one."""
    look, found = _version(context, token)
    values, shown = dict(found.brand or {}), publication.shown_brand(context)
    if look.item is not None and look.brand != shown:  # pages that choose it inherit what it does not set
        values = merged_brand([(Level.TENANT, history.stored(shown)), (Level.BRAND, values)]).values
    name = values.pop("display_name", "") or context.tenant.name
    return ThemePreviewView(version=found.version, display_name=name, brand=BrandView.model_validate(values))


def _version(context: Context, token: str) -> tuple[Look, StoredThemeVersion]:
    try:
        sealed = urlsafe_b64decode(token.encode() + b"=" * (-len(token) % 4))
        theme_id, version, expires_at = from_json(
            context.services.encryption.decrypt(sealed, _associated_data(context))
        )
        if datetime.fromtimestamp(expires_at, UTC) <= context.now:
            raise errors.UnknownThemeVersion
        look = publication.look_of(context, theme_id)
        return look, publication.version(context, look, version)
    except (ValueError, DecryptionError, errors.UnknownTheme):
        raise errors.UnknownThemeVersion from None


def _associated_data(context: Context) -> str:
    """Return the associated data of an address's token, by which it is the tenant's alone."""
    return f"{context.tenant.tenant_id} theme_preview"
