"""Saves drafts of themes, publishes versions now or later, and returns to earlier ones: one transaction each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.tenants.branding import Brand, set_members, stored_brand
from app.contract.themes.theme_operations import THEMES
from app.contract.themes.theme_version_operations import MAX_SCHEDULE_DAYS, MAX_SCHEDULED, OWN_LOOK
from app.identity.administration.resource_operations import resource_operations
from app.identity.administration.resource_operations.write_resources import Writer
from app.identity.administration.theme_versions import history, version_store
from app.identity.administration.theme_versions.version_store import StoredThemeVersion
from app.identity.directory.tenants import script_permission, tenant_writes, theme_files
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.kit.resources.resource_values import version_of

NO_FILES: Final[Mapping[str, bytes]] = {}


@dataclass(frozen=True)
class Look:
    """A theme, or the tenant's own look.

    Args:
        item: None for the own look.
        values: what it sets, with the number of that version. This release may refuse some of it.
    """

    theme_id: str
    item: Item | None
    values: dict[str, Any]
    version: int
    changed_at: datetime

    @property
    def brand(self) -> Brand:
        """What pages show: without what this release refuses."""
        return stored_brand(self.values)


def look_of(context: Context, theme_id: str) -> Look:
    """Return a theme. Raises UnknownTheme."""
    if theme_id == OWN_LOOK:
        published = version_store.published(context.work, OWN_LOOK)
        if published is not None:
            changed_at = published.published_at or published.created_at
            return Look(OWN_LOOK, None, set_members(published.brand), published.version, changed_at)
        return Look(OWN_LOOK, None, _shown_values(context), history.FIRST, context.now)
    item = SHARED_TABLE.item(StoreAccess.of(context), THEMES, (theme_id,))
    if item is None:
        raise errors.UnknownTheme
    values, number = set_members(item.content.get("brand")), version_of(THEMES, item.content)
    return Look(theme_id, item, values, number, item.modified_at or context.now)


def shown_look(context: Context) -> Look:
    """Return the theme that the pages show, or the tenant's own look if no theme is active."""
    shown = shown_brand(context)
    for item in SHARED_TABLE.items(StoreAccess.of(context), THEMES):
        if stored_brand(item.content.get("brand")) == shown:
            return look_of(context, item.id[0])
    return look_of(context, OWN_LOOK)


def shown_brand(context: Context) -> Brand:
    """Return the brand of the tenant as it is stored; the context's may be some seconds old."""
    return stored_brand(_shown_values(context))


def _shown_values(context: Context) -> dict[str, Any]:
    row = tenant_writes.own(context.work)
    return history.stored(context.tenant.brand) if row is None else set_members(row.brand)


def list_versions(context: Context, look: Look) -> list[StoredThemeVersion]:
    """Return the versions of a theme without their brands, the newest first."""
    return version_store.entries(context.work, look.theme_id) or [replace(_first(look), brand=None)]


def version(context: Context, look: Look, number: int) -> StoredThemeVersion:
    """Return a version of a theme with its brand. Raises UnknownThemeVersion."""
    found = version_store.find(context.work, look.theme_id, number)
    if found is None and number == look.version:
        found = _first(look)
    if found is None:
        raise errors.UnknownThemeVersion
    return found


def save_draft(
    context: Context,
    theme_id: str,
    brand: dict[str, Any],
    note: str,
    base: int | None,
    files: Mapping[str, bytes] = NO_FILES,
    *,
    replaces_own: bool = False,
) -> StoredThemeVersion:
    """Add a version that no page shows; one that equals the newest adds none.

    Args:
        files: checked contents of its pictures and fonts by their names, for those that may not be stored yet.
        replaces_own: remove the newest version if the same author drafted it, so that saving often keeps the versions of others.

    Raises:
        UnknownTheme: there is no such theme.
        ThemeChanged: there is a newer version than `base`.
        BadField: the brand is malformed, or the tenant would have too many files; it names each problem.
    """
    look = _locked(context, theme_id)
    former = list_versions(context, look)[0]
    newest = former.version
    if base not in (None, newest):
        raise errors.ThemeChanged
    if not theme_files.store(context.work, files.items(), context.now, is_sqlite=context.services.database.is_sqlite):
        raise errors.BadField(f"Brand.Files: {theme_files.TOO_MANY_BYTES}.")
    draft = _checked(context, brand)
    number, before = newest + 1, version(context, look, newest)
    if history.stored(draft) == before.brand:
        return before
    script_permission.refuse_new_scripts(context, draft.scripts, (before.brand or {}).get("scripts", {}))
    added = StoredThemeVersion(number, note, context.now, history.author(context), brand=history.stored(draft))
    replaced = newest if replaces_own and former.is_draft and former.created_by == added.created_by else None
    if replaced is not None:
        version_store.remove(context.work, theme_id, replaced)
    version_store.add(context.work, theme_id, added)
    context.audit.record("theme_versions.drafted", id=theme_id, version=number, by=added.created_by, replaced=replaced)
    return added


def publish(context: Context, theme_id: str, number: int, base: int | None = None) -> StoredThemeVersion:
    """Make a version the theme's look, and show it where the theme is shown.

    Raises:
        UnknownTheme, UnknownThemeVersion: there is none.
        ThemeChanged: another version than `base` is published.
        BadField: this release refuses the look.
    """
    look = _locked(context, theme_id)
    if base not in (None, look.version):
        raise errors.ThemeChanged
    return _show(context, look, number)


def roll_back(context: Context, theme_id: str, base: int | None = None) -> StoredThemeVersion:
    """Publish the version that was published before the present one.

    Raises:
        NoEarlierVersion: there is none, or it is not kept.
        UnknownTheme, ThemeChanged, BadField: as for `publish`.
    """
    look = _locked(context, theme_id)
    if base not in (None, look.version):
        raise errors.ThemeChanged
    earlier = version_store.before_published(list_versions(context, look))
    if earlier is None or earlier.published_at is None:
        raise errors.NoEarlierVersion
    _show(context, look, earlier.version)
    version_store.set_published_at(context.work, theme_id, earlier.version, earlier.published_at)
    return version(context, look, earlier.version)


def schedule(context: Context, theme_id: str, number: int, at: datetime, base: int | None = None) -> StoredThemeVersion:
    """Let the worker publish a version at a time.

    Raises:
        UnknownTheme, UnknownThemeVersion: there is none.
        ThemeChanged: another version than `base` is published.
        BadField: the time is past or too far away, too many versions wait, or this release refuses the look.
    """
    look = _locked(context, theme_id)
    if base not in (None, look.version):
        raise errors.ThemeChanged
    _checked(context, version(context, look, number).brand)
    if not context.now < at <= context.now + timedelta(days=MAX_SCHEDULE_DAYS):
        raise errors.BadField(f"PublishAt: expected a time in the future, at most {MAX_SCHEDULE_DAYS} days from now.")
    waiting = [item for item in list_versions(context, look) if item.publish_at is not None]
    if len(waiting) >= MAX_SCHEDULED and number not in {item.version for item in waiting}:
        raise errors.BadField(f"PublishAt: at most {MAX_SCHEDULED} versions of a theme can wait for their time.")
    if version_store.set_publish_at(context.work, theme_id, number, at):
        by = history.author(context)
        context.audit.record("theme_versions.scheduled", id=theme_id, version=number, at=at.isoformat(), by=by)
    return version(context, look, number)


def cancel(context: Context, theme_id: str, number: int) -> StoredThemeVersion:
    """Let a version wait for no time any more. Raises UnknownTheme, UnknownThemeVersion."""
    look = _locked(context, theme_id)
    found = version(context, look, number)
    if version_store.set_publish_at(context.work, theme_id, number, None):
        by = history.author(context)
        context.audit.record("theme_versions.schedule_cancelled", id=theme_id, version=number, by=by)
    return replace(found, publish_at=None)


def _locked(context: Context, theme_id: str) -> Look:
    """Lock the tenant, so that changes at once follow one another, and return the theme with its first version. Raises UnknownTheme."""
    resource_operations.lock_tenant(context)
    look = look_of(context, theme_id)
    history.begin(context.work, theme_id, look.values, look.changed_at)
    return look


def _first(look: Look) -> StoredThemeVersion:
    """Return the version of a theme whose look did not change since it has versions."""
    dates = (look.changed_at, "", True, look.changed_at)
    return StoredThemeVersion(look.version, "", *dates, brand=look.values)


def _show(context: Context, look: Look, number: int) -> StoredThemeVersion:
    """Publish a version. The tenant is locked."""
    found = version(context, look, number)
    brand = _checked(context, found.brand)
    if look.item is None:
        _show_own(context, brand, found)
    elif not history.is_published(look.item.content, number):
        after = replace(look.item, content=history.with_look(look.item.content, found), modified_at=context.now)
        resource_operations.write_item(_writer(context), look.item, after)
    version_store.set_publish_at(context.work, look.theme_id, number, None)
    return version(context, look, number)


def _show_own(context: Context, brand: Brand, found: StoredThemeVersion) -> None:
    if found.is_published and shown_brand(context) == brand:
        return
    tenant_writes.change(context.work, brand=found.brand)
    by = history.author(context)
    history.publish(context.work, context.audit, OWN_LOOK, found.version, history.stored(brand), by, context.now)
    context.tenant = replace(context.tenant, brand=brand)
    context.services.directory.clear_cache()


def _checked(context: Context, brand: dict[str, Any] | None) -> Brand:
    """Return the brand of a version. Raises BadField, also for one of another release."""
    content = {"name": OWN_LOOK, "brand": set_members(brand)}
    _writer(context).check(Item((), content))
    checked = stored_brand(brand)
    if sentence := theme_files.problem(context.work, checked.files, context.theme_files):
        raise errors.BadField(f"Brand.Files: {sentence}.")
    return checked


def problem(context: Context, brand: dict[str, Any] | None) -> str:
    """Return why this release refuses the brand of a version; empty for one that it accepts."""
    try:
        _checked(context, brand)
    except errors.BadField as refusal:
        return refusal.description
    return ""


def _writer(context: Context) -> Writer:
    return Writer(context, THEMES, errors.BadField, errors.BadField())
