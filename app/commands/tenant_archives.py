"""gatehouse tenant archive, tenant restore: everything of a tenant in an encrypted file, and back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from app.commands.errors import CommandError, open_services
from app.commands.prompts import counted, tenant_work

if TYPE_CHECKING:
    from app.identity.administration.tenant_archive.archive_file import ArchiveKey
    from app.identity.administration.tenant_archive.archive_records import ArchivedContents

_MIN_PASSPHRASE = 12
_passphrase_file = click.option(
    "--passphrase-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Read the passphrase from the first line of this file instead of the terminal.",
)


@click.command("archive")
@click.argument("name")
@click.option("--to", "file", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@click.option(
    "--recipient",
    "recipients",
    multiple=True,
    metavar="AGE1...",
    help="Encrypt for this age recipient instead of a passphrase; can be repeated.",
)
@_passphrase_file
def archive(name: str, file: Path, recipients: tuple[str, ...], passphrase_file: Path | None) -> None:
    """Archive everything of tenant NAME in an encrypted file.

    Its accounts with password hashes, second factors and passkeys, its organizations, consents, audit trail, keys, themes and
    settings, as they are at one instant. People keep signing in meanwhile. Sessions, tokens and messages that wait aren't archived.

    Who has the file and its passphrase can sign in as anyone: keep them apart.
    """
    from app.identity.administration.tenant_archive import archiving
    from app.identity.directory.tenants import tenant_writes

    with open_services() as services:
        work = tenant_work(services, name)
        record = tenant_writes.own(work)
        work.release_connection()
        if record is None:
            raise CommandError(f"There's no tenant {name!r}.")
        key = _key_to_write(recipients, passphrase_file)
        with _new_file(file) as out:
            try:
                contents = archiving.write(services, record, out, key)
                out.flush()
                os.fsync(out.fileno())
            except BaseException as problem:
                file.unlink(missing_ok=True)
                if isinstance(problem, ValueError):
                    raise CommandError(f"{problem}") from None
                raise
        click.echo(f"Archived tenant {name} in {file}: {_summary(contents)}")


@click.command("restore")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--as", "name", metavar="NAME", default="", help="Name the tenant NAME here, which is its host name.")
@click.option(
    "--identity-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Open the archive with the age identities in this file.",
)
@_passphrase_file
def restore(file: Path, name: str, identity_file: Path | None, passphrase_file: Path | None) -> None:
    """Restore a tenant from its archive FILE.

    All of it, or nothing. What was stored is compared with what was archived. Secrets are encrypted under the newest secret key of
    this installation.
    """
    from app.identity.administration.tenant_archive import archive_file, restoring

    with open_services() as services, file.open("rb") as content:
        try:
            if name:
                restoring.check_name(name)
            key = _key_to_read(content, identity_file, passphrase_file)
            restored = restoring.read(services, content, key, name=name)
        except (archive_file.ArchiveUnreadable, restoring.RestoreRefused) as problem:
            raise CommandError(str(problem)) from None
        address = services.settings.hub_url(restored.name)
        click.echo(f"Restored tenant {restored.name}: {_summary(restored.contents)}")
        click.echo(f"Archived at {restored.archived_at}. It's served at {address}")
        if address != restored.archived_address:
            click.echo(
                f"Passkeys work at {restored.archived_address} alone: serve the tenant at that host, or have people register new ones. "
                "Change the addresses that applications and identity providers store, too."
            )


def _summary(contents: ArchivedContents) -> str:
    total = counted(sum(contents.rows.values()), "row")
    return f"{total} of {counted(len(contents.rows), 'table')}, digest {contents.digest[:16]}"


def _key_to_write(recipients: tuple[str, ...], passphrase_file: Path | None) -> ArchiveKey:
    from app.identity.administration.tenant_archive.archive_file import ArchiveKey

    if recipients:
        return ArchiveKey(recipients=recipients)
    passphrase = _first_line(passphrase_file) if passphrase_file else _prompt(confirms=True)
    if len(passphrase) < _MIN_PASSPHRASE:
        raise CommandError(f"The passphrase needs at least {_MIN_PASSPHRASE} characters.")
    return ArchiveKey(passphrase=passphrase)


def _key_to_read(content: BinaryIO, identity_file: Path | None, passphrase_file: Path | None) -> ArchiveKey:
    from app.identity.administration.tenant_archive import archive_file
    from app.identity.administration.tenant_archive.archive_file import ArchiveKey

    if archive_file.needs_passphrase(content):
        return ArchiveKey(passphrase=_first_line(passphrase_file) if passphrase_file else _prompt(confirms=False))
    if identity_file is None:
        raise CommandError("The archive is for age recipients. Name the file with an identity with --identity-file.")
    lines = identity_file.read_text().splitlines()
    return ArchiveKey(identities=[text.strip() for text in lines if text.strip() and not text.startswith("#")])


def _first_line(file: Path) -> str:
    return next(iter(file.read_text().splitlines()), "")


def _prompt(*, confirms: bool) -> str:
    try:
        return str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=confirms))
    except click.Abort:
        raise CommandError("There's no terminal to type a passphrase at. Name a file with --passphrase-file.") from None


def _new_file(file: Path) -> BinaryIO:
    """Create a file that only its owner can read."""
    try:
        return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except FileExistsError:
        raise CommandError(f"{file} already exists, and archives are never overwritten. Choose another file.") from None
    except FileNotFoundError:
        raise CommandError(f"There's no folder {file.parent}. Create it, or choose another file.") from None
