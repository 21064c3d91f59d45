"""Adds a version with each change of a theme's look, and notes which one is published."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from app.contract.tenants.branding import Brand, set_members, stored_brand
from app.contract.themes.theme_operations import THEMES
from app.contract.themes.theme_version_operations import OWN_LOOK
from app.identity.administration.theme_versions import version_store
from app.identity.administration.theme_versions.version_store import StoredThemeVersion
from app.identity.platform.audit import AuditLog
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.resources.resource_values import put_at, version_of

FILE_AUTHOR: Final = "file"
FIRST: Final = 1
"""The look of a theme from before it had versions."""


def author(context: Context) -> str:
    """Return who changes a theme: the client id of a program, the actor of a command, or a configuration file."""
    if context.machine is not None:
        return str(context.machine["sub"])[:128]
    return context.audit.actor or FILE_AUTHOR


def stored(brand: Brand) -> dict[str, Any]:
    """Return a brand as versions and the tenant's row have it: what it sets, because themes over it inherit the rest."""
    return set_members(brand.model_dump(mode="json", exclude_unset=True))


def usable(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return stored values as `stored` returns those of a brand, without those that this release refuses."""
    return stored(stored_brand(values))


def is_published(content: Mapping[str, Any], version: int) -> bool:
    """Return whether a theme's content is that of a version."""
    return version_of(THEMES, content) == version


def with_look(content: dict[str, Any], version: StoredThemeVersion) -> dict[str, Any]:
    """Return a theme's content with the look of a version."""
    content = {**content, "brand": version.brand}
    put_at(content, ("version",), version.version)
    return content


def next_number(
    work: UnitOfWork, theme_id: str, before: Mapping[str, Any], after: Mapping[str, Any], present: int
) -> int:
    """Return the number of the version that a change makes: a new one, unless the look is that of the present or the newest version.

    Args:
        before: the published look as `set_members` returns it, of the version `present`.
    """
    if after == before:
        return present
    newest = version_store.newest(work, theme_id)
    if newest is None:
        return present + 1
    return newest.version + (after != newest.brand)


def number_of(context: Context, before: Item | None, after: Item) -> int:
    """Return the version of a theme that is written; a publication states its own (`with_look`)."""
    if before is None:
        return FIRST
    present, given = version_of(THEMES, before.content), version_of(THEMES, after.content)
    if given != present:
        return given
    former, look = (set_members(item.content.get("brand")) for item in (before, after))
    return next_number(context.work, after.id[0], former, look, present)


def keep(context: Context, before: Item | None, after: Item) -> None:
    """Add the version of a theme that was written, unless there is one, and make it the published one."""
    theme_id, version = after.id[0], version_of(THEMES, after.content)
    present = None if before is None else version_of(THEMES, before.content)
    if before is not None:
        begin(context.work, theme_id, set_members(before.content.get("brand")), before.modified_at or context.now)
    if version != present:
        look = set_members(after.content.get("brand"))
        publish(context.work, context.audit, theme_id, version, look, author(context), context.now)


def begin(work: UnitOfWork, theme_id: str, look: dict[str, Any], at: datetime) -> None:
    """Add the look of a theme that has no version yet."""
    if version_store.newest(work, theme_id) is None:
        version_store.add(work, theme_id, StoredThemeVersion(FIRST, "", at, "", True, at, brand=look))


def publish(
    work: UnitOfWork, audit: AuditLog, theme_id: str, version: int, look: dict[str, Any], by: str, now: datetime
) -> None:
    """Make a version the published one, and audit it; add it first if there is none with the number."""
    former = version_store.published(work, theme_id)
    if version_store.find(work, theme_id, version) is None:
        version_store.add(work, theme_id, StoredThemeVersion(version, "", now, by, brand=look))
    version_store.set_published(work, theme_id, version, now)
    audit.record(
        "theme_versions.published", id=theme_id, version=version, before=former.version if former else None, by=by
    )


def publish_own(
    work: UnitOfWork, audit: AuditLog, before: dict[str, Any], after: dict[str, Any], by: str, now: datetime
) -> None:
    """Note that another look than before became the tenant's brand."""
    begin(work, OWN_LOOK, before, now)
    former = version_store.published(work, OWN_LOOK)
    look = (before, FIRST) if former is None else (set_members(former.brand), former.version)
    version = next_number(work, OWN_LOOK, look[0], after, look[1])
    publish(work, audit, OWN_LOOK, version, after, by, now)


def remove(context: Context, item: Item) -> None:
    """Remove the versions of a deleted theme."""
    version_store.remove_all(context.work, item.id[0])
