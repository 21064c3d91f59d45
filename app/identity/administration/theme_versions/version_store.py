"""Stores the versions of themes. A version never changes; one of each theme is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Boolean, Column, Integer, String, case, delete, func, insert, select, update

from app.contract.themes.theme_version_operations import KEPT_VERSIONS
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork

theme_versions = tenant_table(
    "theme_versions",
    Column("theme_id", Id, primary_key=True),  # of the item in `resources`, or `brand` for the tenant's own look
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("brand", Json, nullable=False),  # without values at their defaults
    Column("note", String(300), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("created_by", String(128), nullable=False),
    Column("is_published", Boolean, nullable=False),
    Column("published_at", Instant),  # the last time
    Column("publish_at", Instant),  # the time that it waits for
)
T = theme_versions.c
_ENTRY: Final = [column for column in T if column.name not in ("tenant_id", "theme_id", "brand")]


@dataclass(frozen=True)
class StoredThemeVersion:
    """A version. `brand` is empty in lists."""

    version: int
    note: str
    created_at: datetime
    created_by: str
    is_published: bool = False
    published_at: datetime | None = None
    publish_at: datetime | None = None
    brand: dict[str, Any] | None = None

    @property
    def is_draft(self) -> bool:
        """Whether no page ever showed it, and none will."""
        return not self.is_published and self.published_at is None and self.publish_at is None


def entries(work: UnitOfWork, theme_id: str) -> list[StoredThemeVersion]:
    """Return the versions of a theme without their brands, the newest first."""
    rows = work.all(select(*_ENTRY).where(*_of(work, theme_id)).order_by(T.version.desc()))
    return [StoredThemeVersion(**row._mapping) for row in rows]


def find(work: UnitOfWork, theme_id: str, version: int) -> StoredThemeVersion | None:
    """Return a version, or None."""
    row = work.one(select(*_ENTRY, T.brand).where(*_of(work, theme_id), T.version == version))
    return StoredThemeVersion(**row._mapping) if row is not None else None


def replacement(work: UnitOfWork, theme_id: str, version: int) -> StoredThemeVersion | None:
    """Return the draft by which the same author replaced this one; None for a version that is not kept.

    Numbers have no other gaps among the newest `KEPT_VERSIONS`.
    """
    newer = [item.version for item in entries(work, theme_id) if item.version > version]
    return find(work, theme_id, newer[-1]) if 0 < len(newer) < KEPT_VERSIONS else None


def newest(work: UnitOfWork, theme_id: str) -> StoredThemeVersion | None:
    """Return the newest version, or None."""
    row = work.one(select(*_ENTRY, T.brand).where(*_of(work, theme_id)).order_by(T.version.desc()).limit(1))
    return StoredThemeVersion(**row._mapping) if row is not None else None


def published(work: UnitOfWork, theme_id: str) -> StoredThemeVersion | None:
    """Return the published version, or None."""
    row = work.one(select(*_ENTRY, T.brand).where(*_of(work, theme_id), T.is_published))
    return StoredThemeVersion(**row._mapping) if row is not None else None


def add(work: UnitOfWork, theme_id: str, version: StoredThemeVersion) -> None:
    """Add a version; remove the oldest beyond the number that is kept. Raises IntegrityError if its number is taken."""
    work.run(insert(theme_versions).values(tenant_id=work.tenant_id, theme_id=theme_id, **vars(version)))
    listed = entries(work, theme_id)
    kept = {item.version for item in listed[:KEPT_VERSIONS]}
    kept |= {item.version for item in listed if item.is_published or item.publish_at is not None}
    if (earlier := before_published(listed)) is not None:
        kept.add(earlier.version)
    if surplus := [item.version for item in listed if item.version not in kept]:
        work.run(delete(theme_versions).where(*_of(work, theme_id), T.version.in_(surplus)))


def remove(work: UnitOfWork, theme_id: str, version: int) -> None:
    """Remove a version."""
    work.run(delete(theme_versions).where(*_of(work, theme_id), T.version == version))


def before_published(listed: Sequence[StoredThemeVersion]) -> StoredThemeVersion | None:
    """Return the version to return to, of all versions of a theme: the one that was published before the present one."""
    times = {item.version: (item.published_at, item.version) for item in listed if item.published_at is not None}
    present = next((times[item.version] for item in listed if item.is_published and item.version in times), None)
    if present is None:
        return None
    return max(
        (item for item in listed if item.version in times and times[item.version] < present),
        key=lambda item: times[item.version],
        default=None,
    )


def set_published_at(work: UnitOfWork, theme_id: str, version: int, at: datetime) -> None:
    """Set when a version was published: after a return to it, so that the next return leads to the one before it."""
    work.run(update(theme_versions).where(*_of(work, theme_id), T.version == version).values(published_at=at))


def set_published(work: UnitOfWork, theme_id: str, version: int, now: datetime) -> None:
    """Make a version the published one; it waits for no time any more."""
    is_it = T.version == version
    values = {
        "is_published": is_it,
        "published_at": case((is_it, now), else_=T.published_at),
        "publish_at": case((is_it, None), else_=T.publish_at),
    }
    work.run(update(theme_versions).where(*_of(work, theme_id)).values(values))
    _set_next(work)


def set_publish_at(work: UnitOfWork, theme_id: str, version: int, at: datetime | None) -> bool:
    """Set the time that a version waits for, or none. Return whether it was another one before."""
    is_other = T.publish_at.is_distinct_from(at)
    changed = work.changed(
        update(theme_versions).where(*_of(work, theme_id), T.version == version, is_other).values(publish_at=at)
    )
    _set_next(work)
    return bool(changed)


def remove_all(work: UnitOfWork, theme_id: str) -> None:
    """Remove the versions of a theme that is being deleted."""
    work.run(delete(theme_versions).where(*_of(work, theme_id)))
    _set_next(work)


def first_due(work: UnitOfWork, now: datetime) -> tuple[str, int] | None:
    """Return the theme and version of the tenant whose time came first, or None."""
    due = select(T.theme_id, T.version).where(T.tenant_id == work.tenant_id, T.publish_at <= now)
    row = work.one(due.order_by(T.publish_at, T.theme_id, T.version).limit(1))
    return (str(row.theme_id), int(row.version)) if row is not None else None


def _set_next(work: UnitOfWork) -> None:
    """Note in the tenant's row when its next version is due: the worker reads the rows of all tenants, and no versions of theirs."""
    first = work.run(select(func.min(T.publish_at)).where(T.tenant_id == work.tenant_id)).scalar_one()
    tenant_writes.set_next_theme_at(work, first)


def _of(work: UnitOfWork, theme_id: str) -> tuple[Any, ...]:
    return T.tenant_id == work.tenant_id, T.theme_id == theme_id
