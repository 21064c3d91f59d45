"""The theme editor: an address by which people save drafts of one theme, without an account."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from app.contract import errors
from app.contract.tenants.branding import Brand, line_in, line_with, set_members
from app.contract.tenants.tenant_pages import THEME_EDITOR, ThemeEdit, ThemeEditorView, ThemeLook
from app.identity.administration.theme_versions import history, preview, publication, signed_addresses
from app.identity.administration.theme_versions.publication import Look
from app.identity.administration.theme_versions.version_store import StoredThemeVersion
from app.identity.platform.context import Context
from app.kit.design import theme_file_names

LIFETIME: Final = timedelta(hours=8)
ACTOR: Final = "theme editor"
"""Begins the name of who saved a version, and `act` in the audit entries of the editor; the rest distinguishes its addresses."""
_PURPOSE: Final = "theme_editor"
_LINES: Final = ("display_name", "signature")


def create_address(context: Context, theme_id: str) -> tuple[str, datetime]:
    """Return an address on the tenant's host, and when it expires. Raises UnknownTheme."""
    publication.look_of(context, theme_id)
    context.audit.record("theme_versions.editor_opened", id=theme_id, by=history.author(context))
    expires_at = context.now + LIFETIME
    token = signed_addresses.seal(context, _PURPOSE, [theme_id], expires_at)
    return f"{context.pages_url}{THEME_EDITOR}?key={token}", expires_at


def read(context: Context, token: str) -> ThemeEditorView:
    """Return the newest version. Raises UnknownThemeVersion, also for an address that does not work here or any more."""
    look, expires_at = _opened(context, token)
    found, default = _newest(context, look), context.tenant.settings.default_locale
    brand, shown = history.usable(found.brand), preview.shown_look(context, look, found).values
    return ThemeEditorView(
        version=found.version,
        look={name: value for name, value in brand.items() if name in ThemeLook.model_fields} | _lines(brand, default),
        texts=brand.get("texts", {}),
        shown_name=line_in(shown.get("display_name"), default) or context.tenant.name,
        shown_color=shown.get("color") or Brand.model_fields["color"].default,
        logo_address=theme_file_names.address(brand.get("logo") or "", brand.get("files") or {}),
        has_picture=bool(brand.get("picture")),
        preview=preview.path(context, look.theme_id, found.version, expires_at),
    )


def save(context: Context, edit: ThemeEdit) -> StoredThemeVersion:
    """Save a draft: the newest version with the changes. It replaces the draft that the same address saved last, if that is the newest.

    Raises:
        UnknownThemeVersion: the address does not work here or any more.
        ThemeChanged: there is a newer version than the edited one.
        BadField: the look is malformed; it names each problem.
    """
    look, _ = _opened(context, edit.token)
    found = _newest(context, look)
    if found.version != edit.base_version:
        raise errors.ThemeChanged
    context.audit.actor = f"{ACTOR} {sha256(edit.token.encode()).hexdigest()[:8]}"
    edited = _edited(history.usable(found.brand), edit, context.tenant.settings.default_locale)
    return publication.save_draft(context, look.theme_id, edited, "", edit.base_version, replaces_own=True)


def _lines(brand: Mapping[str, Any], default: str) -> dict[str, str]:
    """Return the lines that the editor shows of those with several languages: in the tenant's default language."""
    return {name: line_in(brand[name], default) for name in _LINES if name in brand}


def _edited(brand: dict[str, Any], edit: ThemeEdit, default: str) -> dict[str, Any]:
    """Return the members of a brand with the changes."""
    given = edit.model_dump(mode="json", include=set(ThemeLook.model_fields))
    for name, shown in _lines(brand, default).items():
        given[name] = brand[name] if given[name] == shown else line_with(brand[name], default, given[name])
    texts = {tag: dict(wordings) for tag, wordings in brand.get("texts", {}).items()}
    for tag, changes in edit.model_dump(mode="json", include={"texts"})["texts"].items():
        texts[tag] = {key: text for key, text in {**texts.get(tag, {}), **changes}.items() if text is not None}
    edited = {**brand, **given, "texts": {tag: wordings for tag, wordings in texts.items() if wordings}}
    if edited["scene"] != "picture":
        edited.pop("picture", None)
    return set_members(edited)


def _newest(context: Context, look: Look) -> StoredThemeVersion:
    return publication.version(context, look, publication.list_versions(context, look)[0].version)


def _opened(context: Context, token: str) -> tuple[Look, datetime]:
    """Return the theme that an address opens, and when the address expires. Raises UnknownThemeVersion."""
    (theme_id,), expires_at = signed_addresses.unseal(context, _PURPOSE, token)
    try:
        return publication.look_of(context, theme_id), expires_at
    except errors.UnknownTheme:
        raise errors.UnknownThemeVersion from None
