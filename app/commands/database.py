"""gatehouse migrate, backup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from app.commands.errors import CommandError, as_command_errors, settings
from app.commands.prompts import without_password
from app.identity.platform.store import migrate as migrations
from app.identity.platform.store.database import Database
from app.settings import Settings


@click.command
@click.option(
    "--down",
    metavar="REVISION",
    help="Downgrade to REVISION ('base' for an empty database). Data that newer revisions added is lost.",
)
def migrate(down: str | None) -> None:
    """Migrate the database to this version's schema, while the previous version keeps serving.

    Restart `serve` and `worker` afterwards, one after the other.

    A migration that can't lock a table immediately steps back, lets other queries through and retries.

    On PostgreSQL, set GATEHOUSE_MIGRATE_URL to the role that owns the tables. The role in GATEHOUSE_DATABASE_URL gets the
    privileges it needs to serve.
    """
    loaded = settings()
    url = loaded.migrate_url or loaded.database
    with as_command_errors():
        if down is None:
            before = migrations.current(url).revision
            migrated = migrations.migrate(loaded)
            revision = migrated.revision or ""
            newer = (
                f" (newer than this version's {migrations.HEAD}, which can still serve it)"
                if revision > migrations.HEAD
                else ""
            )
            said = "unchanged at" if revision == before else f"migrated from schema {before or 'none'} to"
            click.echo(f"{without_password(url)}: {said} schema {revision}{newer}")
            if migrated.distributed:
                click.echo(f"Distributed over the nodes of Citus: {', '.join(migrated.distributed)}")
            return
        if not migrations.is_known(down):
            raise CommandError(f"There's no revision {down!r}. The newest is {migrations.HEAD}.")
        migrations.downgrade(url, revision=down)
        click.echo(f"{without_password(url)}: downgraded to schema {down}")


@click.command
def doctor() -> None:
    """Check that this version can serve the database: schema, role, and distribution over the nodes of Citus.

    Warns of SAML certificates that expire within 90 days.

    Changes nothing. `serve` and `worker` refuse what this refuses, except an unreachable Citus node: they serve the tenants of the others.
    """
    loaded = settings()
    database = Database(loaded.database, pool_size=1)
    with as_command_errors():
        try:
            described = migrations.examine(database)
            if nodes := migrations.unreachable_nodes(database):
                raise CommandError(
                    f"The coordinator can't connect to these Citus nodes: {', '.join(nodes)}. "
                    "Requests of the tenants on them are answered 503."
                )
            warnings = list(_certificate_warnings(database))
        finally:
            database.dispose()
    click.echo(f"The database is ready: {described}")
    click.echo(f"Its address is {without_password(loaded.database)}")
    for warning in warnings:
        click.echo(f"Warning: {warning}", err=True)


def _certificate_warnings(database: Database) -> Iterator[str]:
    """Yield a sentence for each SAML certificate of a tenant that expires within 90 days, or has expired."""
    from app.identity.administration import next_saml_certificates
    from app.identity.assembly.clean_up.expired_rows import tenant_ids
    from app.identity.directory.tenants import tenant_store
    from app.identity.platform.store.unit_of_work import UnitOfWork
    from app.kit.clock import SystemClock

    now = SystemClock().now()
    for tenant_id in tenant_ids(database):
        work = UnitOfWork(database, tenant_id)
        try:
            found = next_saml_certificates.expiring(work, now)
            tenant = tenant_store.by_id(work, tenant_id) if found else None
        finally:
            work.rollback()
        for one in found:
            verb = "expires" if one.expires_at > now else "expired"
            action = "Activate the next one" if one.has_next else "Publish the next one"
            whose = f"{tenant.name if tenant is not None else tenant_id}: the certificate of the {one.holder}"
            yield f"{whose} {verb} on {one.expires_at:%Y-%m-%d}. {action}."


@click.group
def backup() -> None:
    """Back up the database, and check restored backups. No need to stop serving.

    A backup doesn't contain the secret key. Store the key separately: without it, encrypted values can't be decrypted.
    """


@backup.command
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--pg-dump",
    metavar="PROGRAM",
    default="pg_dump",
    show_default=True,
    help="pg_dump to run; the server's version or newer.",
)
def create(file: Path, pg_dump: str) -> None:
    """Back up the database to FILE.

    The copy is consistent. FILE.json lists each table's row count.

    On PostgreSQL, set GATEHOUSE_BACKUP_URL to the backup role from deploy/postgres-roles.sql.
    """
    from app.identity.platform.store import database_backup

    with _refusals_as_command_errors():
        manifest = database_backup.create(_source(settings()), file, pg_dump)
    click.echo(f"Backed up to {file}: schema {manifest.revision}, {manifest.total} rows in {len(manifest.rows)} tables")


@backup.command
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def check(file: Path) -> None:
    """Check a database restored from FILE.

    Compares each table with FILE.json. On SQLite, checks FILE itself.

    On PostgreSQL, set GATEHOUSE_BACKUP_URL to the database that FILE was restored into.
    """
    from app.identity.platform.store import database_backup

    with _refusals_as_command_errors():
        manifest = database_backup.verify(_source(settings()), file)
    click.echo(f"{file} is complete: schema {manifest.revision}, {manifest.total} rows in {len(manifest.rows)} tables")


def _source(loaded: Settings) -> str:
    if loaded.is_sqlite:
        return loaded.database
    if not loaded.backup_url:
        raise CommandError(
            "Set GATEHOUSE_BACKUP_URL to the backup role from deploy/postgres-roles.sql: other roles can't read tenants' rows."
        )
    return loaded.backup_url


@contextmanager
def _refusals_as_command_errors() -> Iterator[None]:
    from app.identity.platform.store.database_backup import BackupRefused

    with as_command_errors():
        try:
            yield
        except BackupRefused as refusal:
            raise CommandError(str(refusal)) from None
