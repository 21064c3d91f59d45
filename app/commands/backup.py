"""gatehouse backup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from app.commands.errors import CommandError, as_command_errors, settings
from app.settings import Settings


@click.group
def backup() -> None:
    """Back up the database while it serves, and check a restored one.

    A backup does not contain the secret key: store it separately. Without it encrypted values cannot be decrypted.
    """


@backup.command
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--pg-dump", default="pg_dump", show_default=True, help="The program, of the server's version or newer.")
def create(file: Path, pg_dump: str) -> None:
    """Write a consistent copy of the database to FILE, and a manifest with the row count of each table to FILE.json.

    On PostgreSQL GATEHOUSE_BACKUP_URL names the backup role of deploy/postgres-roles.sql.
    """
    from app.identity.platform.store import backup as store  # noqa: PLC0415 - only this command needs it

    with _in_words():
        made = store.create(_source(settings()), file, pg_dump)
    click.echo(f"{file}: schema {made.revision}, {made.total} rows in {len(made.rows)} tables")


@backup.command
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def check(file: Path) -> None:
    """Compare the restored database with FILE.json, table by table; on SQLite check the copy itself.

    On PostgreSQL GATEHOUSE_BACKUP_URL names the database that FILE was restored into.
    """
    from app.identity.platform.store import backup as store  # noqa: PLC0415 - only this command needs it

    with _in_words():
        held = store.verify(_source(settings()), file)
    click.echo(f"{file}: whole, schema {held.revision}, {held.total} rows in {len(held.rows)} tables")


def _source(read: Settings) -> str:
    if read.is_sqlite:
        return read.database
    if not read.backup_url:
        raise CommandError(
            "GATEHOUSE_BACKUP_URL is required: the roles that serve and migrate see no row of any tenant (deploy/postgres-roles.sql)."
        )
    return read.backup_url


@contextmanager
def _in_words() -> Iterator[None]:
    from app.identity.platform.store.backup import BackupRefused  # noqa: PLC0415 - only this command needs it

    with as_command_errors():
        try:
            yield
        except BackupRefused as refusal:
            raise CommandError(str(refusal)) from None
