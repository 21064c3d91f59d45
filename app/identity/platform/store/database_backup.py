"""Consistent online backups of the database, and their verification after a restore.

Each copy has a manifest beside it (`FILE.json`): the schema revision, the row count of each table and the copy's digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from sqlalchemy import create_engine, text
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from app.identity.platform.store.database import StoreUnavailable
from app.kit.settings.database_url import own_parameters
from app.settings import of_child

_BYPASSES_RLS = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_TABLES = {
    "postgresql": """SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
                     AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname""",
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
}


class BackupRefused(Exception):
    """A backup was not made or is not complete; the text has the reason."""


@dataclass(frozen=True)
class Manifest:
    """The revision, row counts and digest of a copy."""

    revision: str
    rows: dict[str, int]
    sha256: str = ""

    @property
    def total(self) -> int:
        return sum(self.rows.values())

    def write(self, file: Path) -> None:
        with _private(file) as out:
            out.write(json.dumps(asdict(self), indent=1) + "\n")


def manifest_of(file: Path) -> Path:
    """Return the path of a copy's manifest."""
    return file.with_name(f"{file.name}.json")


def create(url: str, file: Path, pg_dump: str = "pg_dump") -> Manifest:
    """Copy the database at `url` into `file`, which must not exist, and write the manifest beside it.

    PostgreSQL: an archive of `pg_dump`, for `pg_restore`; SQLite: a database file.

    Raises:
        BackupRefused: the folder is missing, the role does not see every row, or the copy could not be made; no file is left.
        StoreUnavailable: the database cannot be reached.
    """
    for item in (file, manifest_of(file)):
        if item.exists():
            raise BackupRefused(f"{item} already exists, and backups are never overwritten. Choose another file.")
    if not file.parent.is_dir():
        raise BackupRefused(f"There's no folder {file.parent}. Create it, or choose another file.")
    try:
        counted = _copy_sqlite(url, file) if url.startswith("sqlite") else _dump_postgres(url, file, pg_dump)
        manifest = Manifest(counted.revision, counted.rows, _digest(file))
        manifest.write(manifest_of(file))
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    return manifest


def verify(url: str, file: Path) -> Manifest:
    """Compare a copy and the database it was restored into with the manifest; a SQLite copy is compared itself.

    Raises:
        BackupRefused: the copy was changed or truncated, or the database differs from the manifest.
        StoreUnavailable: the database cannot be reached.
    """
    try:
        expected = Manifest(**json.loads(manifest_of(file).read_text()))
    except (ValueError, TypeError):
        raise BackupRefused(f"{manifest_of(file)} isn't the manifest of a backup.") from None
    if _digest(file) != expected.sha256:
        raise BackupRefused(
            f"{file} was changed or cut off after it was written: its digest doesn't match the manifest."
        )
    actual = _check_sqlite(file) if url.startswith("sqlite") else _count_postgres(url)
    if actual.revision != expected.revision:
        raise BackupRefused(
            f"The restored database is at schema {actual.revision}, but the backup is at {expected.revision}."
        )
    names = sorted(expected.rows.keys() | actual.rows.keys())
    differences = [
        f"{name}: {actual.rows.get(name, 'none')} instead of {expected.rows.get(name, 'none')}"
        for name in names
        if actual.rows.get(name) != expected.rows.get(name)
    ]
    if differences:
        raise BackupRefused("The restored database doesn't match the backup: " + "; ".join(differences) + ".")
    return expected


def _copy_sqlite(url: str, file: Path) -> Manifest:
    source = Path(make_url(own_parameters(url)[0]).database or "")
    if not source.is_file():
        raise BackupRefused(f"There's no database at {source}.")
    with _private(file):
        pass
    with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(file)) as copy:
        read.backup(copy, pages=-1)  # in one step, so that concurrent writes do not mix in
        copy.execute("PRAGMA journal_mode=DELETE")  # no WAL file beside the copy
    return _check_sqlite(file)


def _check_sqlite(file: Path) -> Manifest:
    engine = create_engine(f"sqlite:///{file}", poolclass=NullPool)
    try:
        with engine.connect() as connection:
            result = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
            if result != "ok":
                raise BackupRefused(f"{file} is damaged: {result}")
            return _counts(connection)
    except DBAPIError as problem:
        raise BackupRefused(f"{file} is damaged: {problem.orig}") from problem
    finally:
        engine.dispose()


def _dump_postgres(url: str, file: Path, pg_dump: str) -> Manifest:
    address = make_url(own_parameters(url)[0])
    engine = create_engine(address, poolclass=NullPool, isolation_level="REPEATABLE READ")
    try:
        with engine.begin() as connection:
            _require_bypass_rls(connection)
            snapshot = str(connection.execute(text("SELECT pg_export_snapshot()")).scalar_one())
            counted = _counts(connection)
            plain = address.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
            _dump([pg_dump, "--format=custom", f"--snapshot={snapshot}", f"--dbname={plain}"], file, address.password)
            return counted
    except DBAPIError as problem:
        raise StoreUnavailable(f"Couldn't back up the database: {str(problem.orig).splitlines()[0]}") from problem
    finally:
        engine.dispose()


def _dump(command: list[str], file: Path, password: object) -> None:
    environ = of_child({"PGPASSWORD": str(password)} if password else {})
    try:
        with _private(file) as out:
            completed = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, env=environ, check=False)  # noqa: S603 - no shell
    except FileNotFoundError:
        raise BackupRefused(f"{command[0]} isn't installed. Install it, or name another with --pg-dump.") from None
    if completed.returncode != 0:
        raise BackupRefused(f"{command[0]} failed: {completed.stderr.decode(errors='replace').strip()[-500:]}")


def _count_postgres(url: str) -> Manifest:
    engine = create_engine(own_parameters(url)[0], poolclass=NullPool)
    try:
        with engine.connect() as connection:
            _require_bypass_rls(connection)
            return _counts(connection)
    except DBAPIError as problem:
        raise StoreUnavailable(f"Couldn't read the restored database: {str(problem.orig).splitlines()[0]}") from problem
    finally:
        engine.dispose()


def _require_bypass_rls(connection: Connection) -> None:
    """Refuse a role that row-level security applies to, even the owner: it would silently see no rows."""
    if not connection.execute(text(_BYPASSES_RLS)).scalar():
        raise BackupRefused(
            f"Row-level security hides tenants' rows from the role {connection.engine.url.username!r}, even if it owns the tables. "
            "Set GATEHOUSE_BACKUP_URL to the backup role from deploy/postgres-roles.sql."
        )


def _counts(connection: Connection) -> Manifest:
    names = [str(row[0]) for row in connection.execute(text(_TABLES[connection.dialect.name]))]
    if "alembic_version" not in names:
        raise BackupRefused("This isn't a Gatehouse database.")
    rows = {
        name: int(connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one())  # noqa: S608 - names of tables
        for name in names
    }
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    return Manifest(str(revision), rows)


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _private(file: Path) -> TextIO:
    """Create a file that only its owner can read, because it contains the data of all tenants."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(handle, "w")
