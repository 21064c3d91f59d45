"""gatehouse theme preview: writes every page and message of a theme folder into a zip file that a browser shows without a server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import click

from app.commands.errors import CommandError, as_command_errors
from app.commands.prompts import counted
from app.commands.theme.folder import as_tenant, read_theme
from app.commands.theme.progress import progress

MAX_BYTES: Final = 256 * 1024 * 1024
"""Of all files before they are compressed. Ours alone are some 20 MB."""
_CREATED: Final = (2026, 1, 1, 0, 0, 0)
"""The time of each file in the zip: equal folders make equal bytes."""
_READABLE: Final = 0o100644 << 16


@click.command("preview")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--to", "target", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The zip file to write."
)
@click.option(
    "--pages", "words", default="", metavar="WORD,WORD", help="Write only pages with one of these words in their name."
)
@click.option(
    "--files",
    "files_folder",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="GATEHOUSE_THEME_FILES",
    help="The folder of tenants’ files. By default, GATEHOUSE_THEME_FILES.",
)
def theme_preview(folder: Path, target: Path, words: str, files_folder: Path | None) -> None:
    """Write all pages and emails of a FOLDER to a zip.

    Unpack it and open index.html: it needs no server. Files on the tenant's host, /theme/NAME, come from its folder in --files.
    """
    from app.commands.theme.preview_files import PreviewFiles

    found = read_theme(folder)
    brand = found.brand
    if target.suffix != ".zip":
        raise CommandError(f"Expected a file that ends with .zip; found {target}.")
    files = PreviewFiles(brand, as_tenant(brand, folder.resolve().name), str(files_folder or ""), found.served_files)
    places = files.places(words.split(","))
    if not places:
        raise CommandError(f"No page has a name with {words}.")
    with as_command_errors():
        _write(target, files.all_files(places, progress))
    for warning in files.warnings():
        click.echo(f"Warning: {warning}", err=True)
    size = target.stat().st_size / 1024 / 1024
    click.echo(f"Wrote {counted(len(places), 'page')} into {target}, {size:.1f} MB. Unpack it and open index.html.")


def _write(target: Path, files: Iterator[tuple[str, bytes]]) -> None:
    """Write a zip file under its name once it is complete. Raises CommandError, OSError."""
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    opened = unfinished.open("xb")
    try:
        with opened:
            _pack(opened, files)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _pack(target: IO[bytes], files: Iterator[tuple[str, bytes]]) -> None:
    total = 0
    with ZipFile(target, "w") as packed:
        for name, content in files:
            total += len(content)
            if total > MAX_BYTES:
                problem = f"The files have more than {MAX_BYTES // 1024 // 1024} MB."
                raise CommandError(f"{problem} Name some pages with --pages, or make the logo a file.")
            entry = ZipInfo(name, _CREATED)
            entry.compress_type, entry.external_attr, entry.create_system = ZIP_DEFLATED, _READABLE, 3
            packed.writestr(entry, content)
