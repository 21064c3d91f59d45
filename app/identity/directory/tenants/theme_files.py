"""Static files of themes, stored once per tenant by their content (decision 0417).

A brand names its files by digest, so a version of a theme shows the files that it was made with. Housekeeping deletes a file that no
stored brand names, `RETENTION` after it was last stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Column, Integer, LargeBinary, String, Text, and_, cast, delete, func, select, update

from app.identity.directory.tenants import tenant_writes
from app.identity.platform.store import upserts
from app.identity.platform.store.database import Database
from app.identity.platform.store.tables import Instant, metadata, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.design import theme_file_names

RETENTION: Final = timedelta(days=90)
MAX_STORED_BYTES: Final = 10 * theme_file_names.MAX_TOTAL_BYTES
"""Of all files of a tenant, those of former versions included."""
MAX_STORED_FILES: Final = 2_000
"""The same of their number: their digests fit one answer to the hub."""
_MEGABYTES: Final = MAX_STORED_BYTES // 1024**2
TOO_MANY_BYTES: Final = (
    f"expected at most {MAX_STORED_FILES:,} files and {_MEGABYTES} MB for all versions of the tenant’s themes"
)
NAMING: Final = (("tenants", "brand"), ("resources", "content"), ("theme_versions", "brand"))
"""Table and column of each place that stores brands."""
_DIGEST: Final = re.compile(rf'"{theme_file_names.DIGEST.pattern}"')

theme_files = tenant_table(
    "theme_files",
    Column("digest", String(32), primary_key=True),
    Column("media_type", String(40), nullable=False),
    Column("size_bytes", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("stored_at", Instant, nullable=False),  # the last time that a file with this content was sent
)
F = theme_files.c


@dataclass(frozen=True)
class StoredFile:
    """A file as browsers get it."""

    media_type: str
    content: bytes


def find(work: UnitOfWork, digest: str) -> StoredFile | None:
    """Return the file with this digest."""
    row = work.one(select(F.media_type, F.content).where(F.tenant_id == work.tenant_id, F.digest == digest))
    return StoredFile(row.media_type, row.content) if row is not None else None


def digests(work: UnitOfWork) -> list[str]:
    """Return the digests of all stored files."""
    return [row.digest for row in work.all(select(F.digest).where(F.tenant_id == work.tenant_id))]


def contents(work: UnitOfWork, files: Mapping[str, str]) -> dict[str, bytes]:
    """Return the contents of the stored files among these digests, by name."""
    digests = sorted(set(files.values()))
    if not digests:
        return {}
    rows = work.all(select(F.digest, F.content).where(F.tenant_id == work.tenant_id, F.digest.in_(digests)))
    found = {row.digest: row.content for row in rows}
    return {name: found[digest] for name, digest in files.items() if digest in found}


def sizes(work: UnitOfWork, digests: Iterable[str]) -> dict[str, int]:
    """Return the size in bytes of each stored file among these."""
    listed = sorted(set(digests))
    if not listed:
        return {}
    rows = work.all(select(F.digest, F.size_bytes).where(F.tenant_id == work.tenant_id, F.digest.in_(listed)))
    return {row.digest: row.size_bytes for row in rows}


def problem(work: UnitOfWork, files: Mapping[str, str], arriving: Mapping[str, int]) -> str | None:
    """Return what is expected of a brand with these digests by name; None if each is stored or arriving, and they are not too many.

    Args:
        work: of the tenant.
        files: digests by name.
        arriving: sizes by digest of files that are stored before the brand.
    """
    stored = {**sizes(work, files.values()), **arriving}
    for name in sorted(name for name, digest in files.items() if digest not in stored):
        return f"expected the digest of a stored file for {name}; send its content first"
    return theme_file_names.total_problem({name: stored[digest] for name, digest in files.items()})


def store(work: UnitOfWork, contents: Iterable[tuple[str, bytes]], now: datetime, *, is_sqlite: bool) -> bool:
    """Store files by their names, each content once. Return False, and store nothing, if the tenant would have too many.

    The caller has locked the tenant, and checked the contents.
    """
    new = {theme_file_names.digest_of(content): (name, content) for name, content in contents}
    if _is_too_much(work, new):
        delete_unnamed(work, now)
        if _is_too_much(work, new):
            return False
    for digest, (name, content) in new.items():
        row = {"tenant_id": work.tenant_id, "digest": digest, "size_bytes": len(content), "content": content}
        media_type = theme_file_names.MEDIA_TYPES[theme_file_names.kind_of(name)]
        insert = upserts.insert(theme_files, is_sqlite=is_sqlite).values(**row, media_type=media_type, stored_at=now)
        work.run(insert.on_conflict_do_update(index_elements=[F.tenant_id, F.digest], set_={"stored_at": now}))
    return True


def _is_too_much(work: UnitOfWork, new: Mapping[str, tuple[str, bytes]]) -> bool:
    """Return whether the tenant would have too many bytes or files with these, by their digests."""
    stored = sizes(work, new)
    added = [len(content) for digest, (_, content) in new.items() if digest not in stored]
    total = select(func.count(), func.coalesce(func.sum(F.size_bytes), 0)).where(F.tenant_id == work.tenant_id)
    count, size_bytes = work.run(total).one()
    return bool(count + len(added) > MAX_STORED_FILES or size_bytes + sum(added) > MAX_STORED_BYTES)


def delete_unnamed(work: UnitOfWork, before: datetime) -> int:
    """Delete the files that no stored brand names and that were stored before a time. Return how many.

    Locks the tenant before it deletes: a theme that is written meanwhile waits, and its files are found missing or kept.
    """
    if not _unnamed(work, before):
        return 0
    tenant_writes.lock(work)
    is_unnamed = F.digest.in_(_unnamed(work, before))
    return work.changed(delete(theme_files).where(F.tenant_id == work.tenant_id, F.stored_at < before, is_unnamed))


def is_old(tenant_id: Any, before: Any) -> Any:
    """Return the condition for files that may be deleted; the values may be bind parameters."""
    return and_(F.tenant_id == tenant_id, F.stored_at < before)


def clean(database: Database, tenant_id: str, now: datetime) -> int:
    """Delete the tenant's unnamed files after their retention. Return how many."""
    work = UnitOfWork(database, tenant_id)
    try:
        deleted = delete_unnamed(work, now - RETENTION)
        work.run(update(theme_files).where(is_old(tenant_id, now - RETENTION)).values(stored_at=now))  # those are named
        work.commit()
        return deleted
    finally:
        work.rollback()


def _unnamed(work: UnitOfWork, before: datetime) -> list[str]:
    old = {row.digest for row in work.all(select(F.digest).where(is_old(work.tenant_id, before)))}
    return sorted(old - _named(work)) if old else []


def _named(work: UnitOfWork) -> set[str]:
    """Return the digests in stored brands; other texts of their form are among them, which keeps a file too long at most."""
    found: set[str] = set()
    for table, column in NAMING:
        if table in metadata.tables:
            found |= _named_in(work, metadata.tables[table].c, column)
    return found


def _named_in(work: UnitOfWork, columns: Any, column: str) -> set[str]:
    text = cast(columns[column], Text)
    rows = work.all(select(text.label("text")).where(columns.tenant_id == work.tenant_id, text.contains('"files"')))
    return {digest.strip('"') for row in rows for digest in _DIGEST.findall(row.text)}
