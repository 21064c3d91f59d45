"""gatehouse migrate."""

from __future__ import annotations

import click
from sqlalchemy.engine import make_url

from app.commands.errors import CommandError, as_command_errors, settings
from app.identity.platform.store import migrate as history


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
    read = settings()
    url = read.migrate_url or read.database
    with as_command_errors():
        if down is None:
            stands = history.migrate(read).revision or ""
            newer = (
                f" (newer than this version's {history.HEAD}, which may serve beside it)"
                if stands > history.HEAD
                else ""
            )
            click.echo(f"{make_url(url).render_as_string(hide_password=True)}: schema {stands}{newer}")
            return
        if not history.is_known(down):
            raise CommandError(f"There is no revision {down!r}; the newest is {history.HEAD}.")
        history.downgrade(url, revision=down)
        click.echo(f"{make_url(url).render_as_string(hide_password=True)}: schema {down}")
