"""gatehouse migrate, backup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy.engine import make_url

from app.commands.errors import CommandError, as_command_errors, settings
from app.identity.platform.store import migrate as migrations
from app.settings import Settings


@click.command
@click.option(
    "--down", metavar="REVISION", help="Go back to this revision ('base': to nothing). What newer ones added is lost."
)
def migrate(down: str | None) -> None:
    """Migrate the database to this version's schema, while the previous version keeps serving.

    A change that waits for a lock lets other queries through and retries. Restart `serve` and `worker` afterwards, one after the other.

    On PostgreSQL GATEHOUSE_MIGRATE_URL names the owner of the tables; the role of GATEHOUSE_DATABASE_URL is granted what it
    needs to serve.
    """
    loaded = settings()
    url = loaded.migrate_url or loaded.database
    with as_command_errors():
        if down is None:
            revision = migrations.migrate(loaded).revision or ""
            newer = (
                f" (newer than this version's {migrations.HEAD}, which may serve beside it)"
                if revision > migrations.HEAD
                else ""
            )
            click.echo(f"{make_url(url).render_as_string(hide_password=True)}: schema {revision}{newer}")
            return
        if not migrations.is_known(down):
            raise CommandError(f"There is no revision {down!r}; the newest is {migrations.HEAD}.")
        migrations.downgrade(url, revision=down)
        click.echo(f"{make_url(url).render_as_string(hide_password=True)}: schema {down}")


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
    from app.identity.platform.store import backup as backups  # noqa: PLC0415 - only this command needs it

    with _refusals_as_command_errors():
        manifest = backups.create(_source(settings()), file, pg_dump)
    click.echo(f"{file}: schema {manifest.revision}, {manifest.total} rows in {len(manifest.rows)} tables")


@backup.command
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def check(file: Path) -> None:
    """Compare the restored database with FILE.json, table by table; on SQLite check the copy itself.

    On PostgreSQL GATEHOUSE_BACKUP_URL names the database that FILE was restored into.
    """
    from app.identity.platform.store import backup as backups  # noqa: PLC0415 - only this command needs it

    with _refusals_as_command_errors():
        manifest = backups.verify(_source(settings()), file)
    click.echo(f"{file}: whole, schema {manifest.revision}, {manifest.total} rows in {len(manifest.rows)} tables")


def _source(loaded: Settings) -> str:
    if loaded.is_sqlite:
        return loaded.database
    if not loaded.backup_url:
        raise CommandError(
            "GATEHOUSE_BACKUP_URL is required: the roles that serve and migrate see no row of any tenant (deploy/postgres-roles.sql)."
        )
    return loaded.backup_url


@contextmanager
def _refusals_as_command_errors() -> Iterator[None]:
    from app.identity.platform.store.backup import BackupRefused  # noqa: PLC0415 - only this command needs it

    with as_command_errors():
        try:
            yield
        except BackupRefused as refusal:
            raise CommandError(str(refusal)) from None
