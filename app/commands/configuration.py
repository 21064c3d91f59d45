"""gatehouse apply, export, schema."""

from __future__ import annotations

import json
from pathlib import Path

import click

from app.commands.errors import CommandError, open_services


@click.command
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would change without changing anything.")
@click.option(
    "--prune",
    is_flag=True,
    help="Also remove applications and templates that FILE doesn't list, and accounts that an earlier file created.",
)
def apply(file: Path, dry_run: bool, prune: bool) -> None:
    """Create and update tenants to match FILE in one transaction, all or nothing.

    Existing passwords, keys and secrets are never overwritten. Keys and secrets that FILE leaves out are generated and
    printed once. Running servers pick up the change within 5 seconds.
    """
    from app.identity.administration.configuration import apply_configuration
    from app.identity.administration.configuration.file.read_configuration import read_file
    from app.identity.administration.configuration.file.theme import read_folder
    from app.identity.administration.configuration.file.yaml_document import ConfigurationError

    try:
        configuration_file = read_file(file)
        with open_services() as services:
            done = (apply_configuration.plan if dry_run else apply_configuration.apply)(
                services, configuration_file, prune=prune
            )
            warnings = list(done.warnings)
            for tenant, brand in configuration_file.brands.items():
                warnings += read_folder.warnings(tenant, brand, services.settings.theme_files)
        for sentence in warnings:
            click.echo(f"Warning: {sentence}", err=True)
    except ConfigurationError as problem:
        count = len(problem.problems)
        raise CommandError(f"Found {count} problem{'s' if count > 1 else ''} and changed nothing:\n{problem}") from None
    click.echo(str(done) if dry_run else done.as_done())
    if done.generated and not dry_run:
        click.echo("\nSave these now. They won't be shown again:")
        for made in done.generated:
            click.echo(f"  {made}")


@click.command
@click.argument("tenant")
@click.option("--all-members", is_flag=True, help="Also list the members of organizations that no file created.")
def export(tenant: str, all_members: bool) -> None:
    """Print TENANT as a configuration file, without secrets or passwords."""
    from app.identity.administration.configuration.export import UnknownName
    from app.identity.administration.configuration.export import export as export_tenant

    with open_services() as services:
        try:
            click.echo(export_tenant(services, tenant, has_all_members=all_members), nl=False)
        except UnknownName:
            raise CommandError(f"There's no tenant {tenant!r}. List tenants with 'gatehouse tenant list'.") from None


@click.command
def schema() -> None:
    """Print the JSON Schema (2020-12) of configuration files."""
    from app.contract.tenants.file import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
