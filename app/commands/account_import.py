"""gatehouse import: accounts of another system, with their password hashes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError, open_services
from app.commands.prompts import counted, tenant_work

if TYPE_CHECKING:
    from app.identity.administration.account_import.batch_import import ImportedRecord, Report

_PROGRESS = 10_000
RECOVERY_PATH = "/forgot-password"
"""The path of the hub's page that sets a password."""


def _renames(options: tuple[str, ...]) -> dict[str, str]:
    for option in options:
        if "=" not in option:
            raise CommandError(f"Write OLD=NEW, or OLD= to leave it out; found {option!r}.")
    return dict(option.split("=", 1) for option in options)


@click.command("import")
@click.argument("tenant")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--format", "form", default="gatehouse", type=click.Choice(["gatehouse", "auth0", "keycloak"]), show_default=True
)
@click.option(
    "--role", "roles", multiple=True, metavar="OLD=NEW", help="Rename a role of the file. OLD= leaves it out."
)
@click.option(
    "--connection",
    "connections",
    multiple=True,
    metavar="OLD=NEW",
    help="Rename a provider of the file. OLD= leaves it out.",
)
@click.option("--realm", metavar="NAME", help="Import the users of this realm, if the files of Keycloak have several.")
@click.option("--dry-run", is_flag=True, help="Check every account without importing any.")
@click.option(
    "--skip",
    default=0,
    metavar="NUMBER",
    type=click.IntRange(0),
    help="Leave out the first accounts, to go on after a stop.",
)
def import_(
    tenant: str,
    files: tuple[Path, ...],
    form: str,
    roles: tuple[str, ...],
    connections: tuple[str, ...],
    realm: str | None,
    dry_run: bool,
    skip: int,
) -> None:
    """Import the accounts in FILES into TENANT, with their password hashes.

    People sign in with the password they have. Nobody gets an email. Accounts that can't be imported are listed, and the rest
    are imported, 500 in a transaction. Repeating an import is safe: it creates what is missing, and updates an account only
    until its owner has signed in.
    """
    from app.identity.administration.account_import import batch_import, formats
    from app.identity.administration.account_import.import_record import MappedRecord, RecordRefused
    from app.identity.platform.store.database import StoreUnavailable

    mapped, report = MappedRecord(_renames(roles), _renames(connections)), batch_import.Report()
    with open_services() as services:
        tenant_work(services, tenant).rollback()
        tenant_row = services.directory.by_name(tenant)
        if tenant_row is None:
            raise CommandError(f"Tenant {tenant!r} is suspended. Run 'gatehouse tenant resume {tenant}' first.")
        try:
            reads = formats.read(files, formats.Format(form), mapped, realm)
            batch_import.run(services, tenant_row, reads, _print, skip=skip, writes=not dry_run, report=report)
        except RecordRefused as problem:
            raise CommandError(f"{problem}. {_stopped(report, dry_run=dry_run)}") from None
        except StoreUnavailable as problem:
            raise CommandError(f"{problem} {_stopped(report, dry_run=dry_run)}") from None
    click.echo(_summary(report, dry_run=dry_run, recovery=services.settings.hub_url(tenant) + RECOVERY_PATH))
    if report.counts[batch_import.ImportOutcome.REFUSED]:
        raise SystemExit(1)


def _print(done: ImportedRecord) -> None:
    for sentence in done.says:
        click.echo(f"{done.place}: {done.outcome}: {sentence}", err=True)
    if done.place.number % _PROGRESS == 0:
        click.echo(f"{done.place.number:,} accounts read", err=True)


def _stopped(report: Report, *, dry_run: bool) -> str:
    if dry_run or not report.last:
        return "Nothing was imported."
    return f"Imported up to account {report.last}. Go on with --skip {report.last}."


def _summary(report: Report, *, dry_run: bool, recovery: str) -> str:
    counts = [(outcome, count) for outcome, count in sorted(report.counts.items()) if count]
    if dry_run:
        parts = ", ".join(f"{counted(count, 'account')} would be {outcome}" for outcome, count in counts)
        sentences = [f"Dry run: {parts or 'no accounts'}."]
    else:
        parts = ", ".join(f"{count:,} {outcome}" for outcome, count in counts)
        sentences = [f"Read {counted(sum(report.counts.values()), 'account')}: {parts or 'none'}."]
    if report.without_password:
        new_accounts = counted(report.without_password, "new account")
        sentences.append(
            f"{new_accounts} without a password: sign in with a provider, or set a password at {recovery}."
        )
    return " ".join(sentences)
