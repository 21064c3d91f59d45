"""gatehouse apply, export, schema."""

from __future__ import annotations

import json
from pathlib import Path

import click

from app.commands.refusals import Refusal, services


@click.command
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print the plan and change nothing.")
@click.option(
    "--prune", is_flag=True, help="Remove applications that the file does not list, and accounts that a file made."
)
def apply(file: Path, dry_run: bool, prune: bool) -> None:
    """Bring tenants to what FILE says: all of it, or nothing.

    Existing passwords, keys and secrets are never overwritten. Keys and secrets that the file leaves out are made and
    printed once. A server that runs meanwhile sees the change within 5 seconds.
    """
    from app.identity.administration.configuration import apply as configuration  # noqa: PLC0415 - only this command pays for it
    from app.identity.administration.configuration.problems import ConfigurationError  # noqa: PLC0415 - as above
    from app.identity.administration.configuration.reading import read_file  # noqa: PLC0415 - as above

    try:
        stated = read_file(file)
        with services() as ours:
            done = (configuration.plan if dry_run else configuration.apply)(ours, stated, prune=prune)
    except ConfigurationError as problem:
        count = len(problem.problems)
        raise Refusal(f"{count} problem{'s' if count > 1 else ''}; nothing was changed.\n{problem}") from None
    click.echo(str(done) if dry_run else str(done).replace("Plan:", "Done:"))
    if done.made and not dry_run:
        click.echo("\nMade, and shown only now:")
        for made in done.made:
            click.echo(f"  {made}")


@click.command
@click.argument("tenant")
def export(tenant: str) -> None:
    """Write TENANT as a configuration file, without secrets and passwords."""
    from app.identity.administration.configuration.export import UnknownName  # noqa: PLC0415 - only this command pays for it
    from app.identity.administration.configuration.export import export as written  # noqa: PLC0415 - as above

    with services() as ours:
        try:
            click.echo(written(ours, tenant), nl=False)
        except UnknownName:
            raise Refusal(f"There is no tenant {tenant!r}; 'gatehouse tenant list' shows them.") from None


@click.command
def schema() -> None:
    """Print the JSON Schema (2020-12) of configuration files."""
    from app.contract.tenant_file import json_schema  # noqa: PLC0415 - only this command pays for it

    click.echo(json.dumps(json_schema(), indent=2))
