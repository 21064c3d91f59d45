"""gatehouse theme push, pull, versions, publish, cancel and roll-back: the versions of a tenant's look."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from app.commands.errors import CommandError, as_command_errors, open_services
from app.commands.prompts import outside_requests
from app.commands.theme.folder import read_theme

if TYPE_CHECKING:
    from app.contract.tenants.branding import Brand
    from app.identity.administration.theme_versions.publication import Look
    from app.identity.administration.theme_versions.version_store import StoredThemeVersion
    from app.identity.platform.context import Context

ACTOR: Final = "command"
"""Who saved a version, and `act` in the audit entries of these commands."""
FOLLOW: Final = "Running servers follow within 5 seconds."
Decorated = Callable[..., Any]
_FOLDER: Final = click.Path(path_type=Path, file_okay=False)


def of_theme(command: Decorated) -> Decorated:
    """Add the option that names the theme."""
    words = (
        "The name of a theme, or brand for the look of the configuration file. Default: the look that the pages show."
    )
    return click.option("--theme", "theme_name", metavar="NAME", default="", help=words)(command)


@click.command("push")
@click.argument("folder", type=_FOLDER)
@click.argument("tenant_name", metavar="TENANT")
@click.option("--note", default="", help="What changed, for the list of versions.")
@click.option("--publish", "is_published", is_flag=True, help="Publish it at once.")
@of_theme
def push(folder: Path, tenant_name: str, note: str, is_published: bool, theme_name: str) -> None:
    """Save a theme's FOLDER as a version of TENANT's look.

    The version is a draft, which no page shows, until it's published.
    """
    from app.contract.themes.theme_version_operations import ThemeDraft
    from app.identity.administration.theme_versions import history, publication

    found = read_theme(folder)
    if len(note) > (most := next(item.max_length for item in ThemeDraft.model_fields["note"].metadata)):
        raise CommandError(f"--note: expected at most {most} characters.")
    with opened_look(tenant_name, theme_name) as (context, look):
        newest = publication.list_versions(context, look)[0].version
        brand = history.stored(found.brand)
        draft = publication.save_draft(context, look.theme_id, brand, note, None, found.files)
        if is_published:
            publication.publish(context, look.theme_id, draft.version)
        context.commit()
    if is_published:
        click.echo(f"Published version {draft.version} of {tenant_name}. {FOLLOW}")
    elif draft.version == newest:
        click.echo(f"{tenant_name} has this look already: version {newest}.")
    else:
        saved = f"Saved version {draft.version} of {tenant_name} as a draft."
        click.echo(f"{saved} To publish it, run 'gatehouse theme publish {tenant_name} {draft.version}'.")


@click.command("pull")
@click.argument("tenant_name", metavar="TENANT")
@click.argument("folder", type=_FOLDER)
@click.option("--version", "number", type=click.IntRange(1), help="Default: the published version.")
@click.option("--replace", is_flag=True, help="Replace the theme in FOLDER.")
@of_theme
def pull(tenant_name: str, folder: Path, number: int | None, replace: bool, theme_name: str) -> None:
    """Write TENANT's look into a theme's FOLDER."""
    from app.identity.administration.configuration.file.theme import write_folder
    from app.identity.administration.configuration.file.yaml_document import ConfigurationError
    from app.identity.administration.theme_versions import publication
    from app.identity.directory.tenants import theme_files

    if not replace and folder.is_dir() and any(folder.iterdir()):
        raise CommandError(f"{folder} isn't empty. Add --replace to replace the theme in it.")
    with opened_look(tenant_name, theme_name) as (context, look):
        found = publication.version(context, look, number or look.version)
        brand = _readable(found)
        contents = theme_files.contents(context.work, brand.files)
    try:
        with as_command_errors():
            write_folder.write(folder, brand, contents)
    except ConfigurationError as found_there:
        raise CommandError(f"Nothing was written:\n{found_there}") from None
    for name in sorted(brand.files.keys() - contents.keys()):
        click.echo(f"Warning: static/{name} isn’t written: its content is stored no more.", err=True)
    click.echo(f"Wrote version {found.version} of {tenant_name} to {folder}.")


@click.command("versions")
@click.argument("tenant_name", metavar="TENANT")
@click.option("--json", "is_json", is_flag=True, help="Print JSON, one object per line.")
@of_theme
def versions(tenant_name: str, is_json: bool, theme_name: str) -> None:
    """List the versions of TENANT's look, the newest first."""
    from app.identity.administration.theme_versions import publication
    from app.kit.clock import iso

    with opened_look(tenant_name, theme_name) as (context, look):
        listed, problem = publication.list_versions(context, look), publication.problem(context, look.values)
    if problem:
        click.echo(f"This release refuses the published version, and pages show the rest of it: {problem}", err=True)
    for item in listed:
        dates = {name: iso(value) for name, value in vars(item).items() if name.endswith("_at")}
        row = {name: value for name, value in {**vars(item), **dates}.items() if name != "brand"}
        click.echo(json.dumps(row) if is_json else _line(item))


@click.command("publish")
@click.argument("tenant_name", metavar="TENANT")
@click.argument("number", metavar="VERSION", type=click.IntRange(1))
@click.option("--at", "at", metavar="TIME", default="", help="When, such as 2027-01-31T06:00:00Z. Default: now.")
@of_theme
def publish(tenant_name: str, number: int, at: str, theme_name: str) -> None:
    """Publish a VERSION of TENANT's look, now or later.

    The worker publishes it at that time. To take that back, run `theme cancel`.
    """
    from app.contract.configuration_model import instant
    from app.identity.administration.theme_versions import publication

    try:
        moment = instant(at) if at else None
    except ValueError as problem:
        raise CommandError(f"--at: expected {problem}.") from None
    with opened_look(tenant_name, theme_name) as (context, look):
        if moment is None:
            publication.publish(context, look.theme_id, number)
        else:
            publication.schedule(context, look.theme_id, number, moment)
        context.commit()
    if moment is None:
        click.echo(f"Published version {number} of {tenant_name}. {FOLLOW}")
    else:
        click.echo(f"The worker publishes version {number} of {tenant_name} at {_shown(moment)}.")


@click.command("cancel")
@click.argument("tenant_name", metavar="TENANT")
@click.argument("number", metavar="VERSION", type=click.IntRange(1))
@of_theme
def cancel(tenant_name: str, number: int, theme_name: str) -> None:
    """Don't publish a VERSION at its time."""
    from app.identity.administration.theme_versions import publication

    with opened_look(tenant_name, theme_name) as (context, look):
        publication.cancel(context, look.theme_id, number)
        context.commit()
    click.echo(f"Version {number} of {tenant_name} has no time to be published.")


@click.command("roll-back")
@click.argument("tenant_name", metavar="TENANT")
@of_theme
def roll_back(tenant_name: str, theme_name: str) -> None:
    """Publish the version that was published before."""
    from app.identity.administration.theme_versions import publication

    with opened_look(tenant_name, theme_name) as (context, look):
        found = publication.roll_back(context, look.theme_id)
        context.commit()
    click.echo(f"Published version {found.version} of {tenant_name} again, instead of {look.version}. {FOLLOW}")


@click.command("preview-link")
@click.argument("tenant_name", metavar="TENANT")
@click.argument("number", metavar="VERSION", type=click.IntRange(1))
@of_theme
def preview_link(tenant_name: str, number: int, theme_name: str) -> None:
    """Print an address that shows a VERSION.

    It works for 24 hours. The accounts that it shows are made up.
    """
    from app.identity.administration.theme_versions import preview

    with opened_look(tenant_name, theme_name) as (context, look):
        address, expires_at = preview.create_address(context, look.theme_id, number)
    click.echo(address)
    click.echo(f"Anyone with this address can see the look. It expires at {_shown(expires_at)}.", err=True)


@click.command("edit-link")
@click.argument("tenant_name", metavar="TENANT")
@of_theme
def edit_link(tenant_name: str, theme_name: str) -> None:
    """Print an address where people edit a look.

    It works for 8 hours. Each save is a draft: the editor publishes none.
    """
    from app.identity.administration.theme_versions import editor

    with opened_look(tenant_name, theme_name) as (context, look):
        address, expires_at = editor.create_address(context, look.theme_id)
        context.commit()
    click.echo(address)
    click.echo(f"Anyone with this address can save drafts. It expires at {_shown(expires_at)}.", err=True)


COMMANDS: Final = (push, pull, versions, publish, cancel, roll_back, preview_link, edit_link)


@contextmanager
def opened_look(tenant_name: str, theme_name: str) -> Iterator[tuple[Context, Look]]:
    """Yield the context of the command and the theme. Raises CommandError, also for a refusal of an operation."""
    from app.contract.themes.theme_operations import THEMES
    from app.contract.themes.theme_version_operations import OWN_LOOK
    from app.identity.administration.theme_versions import publication
    from app.identity.platform.resource_storage.items import Item, StoreAccess
    from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
    from app.kit.operations.errors import ApiError

    with open_services() as services, outside_requests(services, tenant_name) as context:
        context.audit.actor = ACTOR
        try:
            if not theme_name:
                yield context, publication.shown_look(context)
                return
            named = Item((), {"name": theme_name})
            item = SHARED_TABLE.find_by_unique_key(StoreAccess.of(context), THEMES, named)
            if item is None and theme_name != OWN_LOOK:
                raise CommandError(f"{tenant_name} has no theme {theme_name!r}.")
            yield context, publication.look_of(context, item.id[0] if item is not None else OWN_LOOK)
        except ApiError as refusal:
            raise CommandError(f"{refusal.message.rstrip('.')}. {refusal.description}") from None


def _readable(found: StoredThemeVersion) -> Brand:
    from pydantic import ValidationError

    from app.contract.tenants.branding import Brand

    try:
        return Brand.model_validate(found.brand)
    except ValidationError:
        raise CommandError(f"This release can't read the look of version {found.version}.") from None


def _line(item: StoredThemeVersion) -> str:
    state = "published" if item.is_published else f"at {_shown(item.publish_at)}" if item.publish_at else ""
    state = state or ("former" if item.published_at else "draft")
    note = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in item.note)
    return f"{item.version:>4}  {_shown(item.created_at)}  {state:<24}  {item.created_by:<16}  {note}".rstrip()


def _shown(at: Any) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
