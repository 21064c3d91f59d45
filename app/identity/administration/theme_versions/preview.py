"""Preview addresses: each shows every page with the look of one version, for a day."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from app.contract import errors
from app.contract.tenants.brand_levels import Level, MergedBrand, merged_brand
from app.contract.tenants.branding import stored_brand
from app.contract.tenants.tenant_pages import (
    THEME_PREVIEWS,
    BrandView,
    MailDocument,
    MailPreviewRequest,
    MessagePreviews,
    ThemePreviewView,
)
from app.identity.administration.theme_versions import history, publication, signed_addresses, version_store
from app.identity.administration.theme_versions.publication import Look
from app.identity.administration.theme_versions.version_store import StoredThemeVersion
from app.identity.messaging.message import Branding
from app.identity.platform.context import Context
from app.kit.text.languages import LANGUAGES, Language

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
    look, found = _version(context, token)
    shown = shown_look(context, look, found)
    name = shown.values.pop("display_name", "") or context.tenant.name
    sources = {value: "theme" if level is Level.BRAND else level.value for value, level in shown.sources.items()}
    brand = BrandView.model_validate(shown.values)
    return ThemePreviewView(version=found.version, display_name=name, brand=brand, sources=sources)


def messages(context: Context, token: str, language: str) -> MessagePreviews:
    """Return the messages with the version's look, in a language. Raises UnknownThemeVersion as `read`, also for an unknown language."""
    from app.identity.messaging import gallery  # noqa: PLC0415 - few requests need the samples

    return gallery.previews(branding_of(context, *_version(context, token)), _language(language))


def mail(context: Context, req: MailPreviewRequest) -> MailDocument:
    """Return a mail with the version's look. Raises UnknownThemeVersion as `messages`, also for a sample that there is not."""
    from app.identity.messaging import gallery  # noqa: PLC0415 - as above

    branding = branding_of(context, *_version(context, req.token))
    if (req.kind, req.state) not in gallery.mail_samples():
        raise errors.UnknownThemeVersion
    rendered = gallery.mail(branding, _language(req.language), req.kind, req.state)
    pictures = [address for address in (branding.logo, branding.logo_dark) if address]
    return MailDocument(html=rendered.html, pictures=pictures)


def branding_of(context: Context, look: Look, found: StoredThemeVersion) -> Branding:
    """Return what messages have of a version's look."""
    brand = stored_brand(shown_look(context, look, found).values)
    name = brand.display_name or context.tenant.name.title()
    return Branding(name, brand, context.pages_url, context.tenant.settings.default_locale)


def _version(context: Context, token: str) -> tuple[Look, StoredThemeVersion]:
    """Return the version of an address, or the draft that replaced it. Raises UnknownThemeVersion."""
    (theme_id, version), _ = signed_addresses.unseal(context, _PURPOSE, token)
    try:
        look = publication.look_of(context, theme_id)
    except errors.UnknownTheme:
        raise errors.UnknownThemeVersion from None
    try:
        return look, publication.version(context, look, version)
    except errors.UnknownThemeVersion:
        found = version_store.replacement(context.work, look.theme_id, version)
        if found is None:
            raise
        return look, found


def _language(tag: str) -> Language:
    if tag not in LANGUAGES:
        raise errors.UnknownThemeVersion
    return LANGUAGES[tag]


def shown_look(context: Context, look: Look, found: StoredThemeVersion) -> MergedBrand:
    """Return the look that pages show with a version; without sources if it inherits nothing."""
    values, shown = history.usable(found.brand), publication.shown_brand(context)
    if look.item is None or look.brand == shown:
        return MergedBrand(values)
    return merged_brand([(Level.TENANT, history.stored(shown)), (Level.BRAND, values)])  # pages that choose it inherit
