"""gatehouse theme diff: what of ours changed under the templates of a theme since they were written."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from app.commands.errors import CommandError, as_command_errors
from app.commands.prompts import counted
from app.commands.theme.folder import read_theme
from app.commands.theme.unused import RECORD

if TYPE_CHECKING:
    from app.contract.tenants.branding import Brand

_FORMS: Final = "macros/forms.html"
_COMPONENTS: Final = "macros/components.html"
OUR_MACROS: Final[Mapping[str, tuple[str, str]]] = {
    "macros/field.html": (_FORMS, "field"),
    "macros/password.html": (_FORMS, "password"),
    "macros/checkbox.html": (_FORMS, "checked"),
    "macros/button.html": (_COMPONENTS, "button"),
    "macros/method.html": ("macros/sign_in_methods.html", "method_content"),
    "macros/row.html": (_COMPONENTS, "method"),
    "macros/chip.html": (_COMPONENTS, "chip"),
    "macros/notice.html": (_COMPONENTS, "summary"),
    "macros/summary.html": (_COMPONENTS, "summary"),
}
"""The file and the name of the macro that draws each part without a template of the theme."""
_TAG: Final = re.compile(r"{%[-+]?\s*(block|endblock)\b\s*(\w*)[^%]*%}\n?")


@click.command("diff")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--accept", is_flag=True, help=f"Note ours as they are now, in {RECORD} of the folder.")
def theme_diff(folder: Path, accept: bool) -> None:
    """Show what of ours changed under a theme's templates.

    The theme keeps ours as they were when its templates were written: write them with --accept, after each look at the changes.
    """
    brand = read_theme(folder).brand
    now, file = ours_now(brand), folder / RECORD
    if accept:
        with as_command_errors():
            file.write_text(json.dumps(now, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
        click.echo(f"Wrote {file}, with ours for {counted(len(now), 'template')}.")
        return
    try:
        before = json.loads(file.read_bytes())
        lines = [line for name in sorted(now) for line in _changes(name, before.get(name), now[name])]
    except FileNotFoundError:
        raise CommandError(f"There's no {file} yet. Write it with --accept.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise CommandError(f"{file} isn't what --accept wrote.") from None
    click.echo("\n".join(lines) or f"{folder.resolve().name}: nothing of ours changed under its templates.")


def ours_now(brand: Brand) -> dict[str, Any]:
    """Return the contract of each template that a theme replaces, and our blocks where it is a page's."""
    from app.contract.themes.theme_contract import document

    found = document()
    by_name = {**found["layouts"], **found["parts"], **found["pages"], **found["mails"]}
    return {
        name: {**by_name[name], "source": _our_source(name, is_page=name in found["pages"])}
        for name in brand.templates
        if name in by_name
    }


def _our_source(name: str, *, is_page: bool) -> dict[str, str]:
    """Return what of ours a template replaces: blocks of a page, or the macro of a part."""
    from app.kit.package_files import TEMPLATES

    if name not in OUR_MACROS:
        return our_blocks(name) if is_page else {}
    file, macro = OUR_MACROS[name]
    text = (TEMPLATES / file).read_text(encoding="utf-8")
    start = text.index(f"{{% macro {macro}(")
    return {macro: text[start : text.index("{%- endmacro %}", start)]}


def our_blocks(template: str) -> dict[str, str]:
    """Return the source of each block of our template, without the blocks within it."""
    from app.kit.package_files import TEMPLATES

    text = (TEMPLATES / template).read_text(encoding="utf-8")
    blocks: dict[str, str] = {}
    open_blocks: list[tuple[str, int]] = []
    for tag in _TAG.finditer(text):
        if tag[1] == "block":
            open_blocks.append((tag[2], tag.end()))
        elif open_blocks:
            name, start = open_blocks.pop()
            if open_blocks:  # the outermost one is the whole page
                blocks[name] = text[start : tag.start()]
    return blocks


def _entries(found: Mapping[str, Any] | list[str]) -> dict[str, Any]:
    """Return the entries of a contract by name, without their meanings, whose wording may change."""
    if isinstance(found, list):
        return dict.fromkeys(found)
    return {
        name: {key: value for key, value in each.items() if key != "meaning"} if isinstance(each, dict) else each
        for name, each in found.items()
    }


def _changes(name: str, before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> Iterator[str]:
    if before is None:
        yield f"{name}: not in {RECORD} yet. Look at it, then use --accept."
        return
    for kind, word in (("blocks", "block"), ("parts", "part"), ("values", "value")):
        then, since = _entries(before.get(kind, {})), _entries(now.get(kind, {}))
        yield from (f"{name}: new {word} {key}" for key in since if key not in then)
        yield from (f"{name}: {word} {key} is gone" for key in then if key not in since)
        yield from (f"{name}: {word} {key} changed" for key in since if key in then and since[key] != then[key])
    kind = "macro" if name in OUR_MACROS else "block"
    for block, source in now["source"].items():
        was = before["source"].get(block)
        if was is not None and was != source:
            yield f"{name}: {kind} {block} changed"
            yield from list(difflib.unified_diff(was.splitlines(), source.splitlines(), lineterm="", n=2))[2:]
