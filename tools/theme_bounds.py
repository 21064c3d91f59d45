"""The tables of docs/theming.md with the bounds of themes, from the constants that check them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from app.contract.tenants import branding
from app.contract.themes import theme_version_operations
from app.hub.theme_check import samples
from app.identity.administration.configuration.file.theme import folder_walk
from app.identity.administration.tenant_settings import themes
from app.identity.directory.tenants import theme_files
from app.kit.design import theme_file_names
from app.kit.design.theme_css import bounds, check, inline, tokens, values
from app.kit.design.theme_css.allowed import OWN_BOUNDS, PROPERTIES, TOKEN_TABLE
from app.kit.design.theme_css.bounds import ONLY_OWN, Bound
from app.kit.design.theme_files import svg
from app.kit.images import image_format
from app.kit.templating import compiled, language, markup
from app.kit.text import tenant_texts

_KILO: Final = 1024
ROWS: Final[Mapping[str, str]] = {
    "Files and folders of a theme folder": f"{folder_walk.MAX_ENTRIES:,}, {folder_walk.MAX_DEPTH} folders within one another",
    "A file of the folder": f"{folder_walk.MAX_FILE_MEGABYTES} MB; a YAML file {folder_walk.MAX_YAML_KILOBYTES} kB",
    "`logo` and `logo_dark` beside `theme.yaml`": f"{branding.MAX_LOGO_BYTES:,} bytes together",
    "Files below `static/img` and `static/fonts`": f"{theme_file_names.MAX_FILES}, each {theme_file_names.MAX_FILE_BYTES // _KILO} kB, "
    f"{theme_file_names.MAX_TOTAL_BYTES // _KILO**2} MB together",
    "A picture": f"{image_format.MAX_CHECKED_PIXELS // 10**6} million pixels",
    "Elements of an SVG picture": f"{svg.MAX_ELEMENTS:,}, {svg.MAX_DEPTH} within one another",
    "`display_name`": f"{branding.MAX_DISPLAY_NAME} characters",
    "A text, `sentence` and `signature`": f"{tenant_texts.MAX_TEXT_LENGTH} characters; all texts {tenant_texts.MAX_BYTES // _KILO} kB",
    "The placeholder of a field": f"{tenant_texts.MAX_PLACEHOLDER_LENGTH} characters",
    "A template": f"{language.MAX_BYTES // _KILO} kB, {language.MAX_TAGS} values and statements",
    "Elements in a template": f"{markup.MAX_DEPTH} within one another",
    "Conditions in a template": f"{language.MAX_NESTING} within one another",
    "Loops in a template": f"{language.MAX_LOOPS} within one another",
    "Filters and conditions in one value": f"{language.MAX_PARTS}",
    "What a template writes": f"{compiled.MAX_OUTPUT // _KILO} kB beside our parts, in {compiled.MAX_SECONDS:g} seconds",
    "A `style` of an email": f"{inline.MAX_STYLE} characters",
    "The style sheet": f"{bounds.MAX_BYTES // _KILO} kB, {check.MAX_RULES} rules",
    "The selectors of a rule": f"{check.MAX_SELECTOR} characters",
    "At-rules": f"{check.MAX_DEPTH} within one another",
    "Brackets in CSS": f"{tokens.MAX_NESTING} within one another",
    "A number in CSS": f"{tokens.MAX_DIGITS} characters",
    "A text in CSS": f"{values.MAX_STRING} characters; `content` {values.MAX_CONTENT}",
    "A picture as `data:` in CSS": f"{values.MAX_DATA // _KILO} kB",
    "A page": f"{samples.FIRST_FLIGHT_BYTES:,} bytes, compressed, without style sheet and script",
    "The looks of all themes of a tenant": f"{themes.MAX_LOOKS_BYTES // _KILO**2} MB as JSON, without their files",
    "Files of all of their versions": f"{theme_files.MAX_STORED_FILES:,}, {theme_files.MAX_STORED_BYTES // _KILO**2} MB together",
    "Versions with a time": f"{theme_version_operations.MAX_SCHEDULED}, at most {theme_version_operations.MAX_SCHEDULE_DAYS} days ahead",
}  # fmt: skip


def bounds_table() -> str:
    """Return the table of sizes and numbers."""
    return "| What | At most |\n| --- | --- |\n" + "".join(f"| {what} | {most} |\n" for what, most in ROWS.items())


def css_table() -> str:
    """Return the table of what the properties of a style sheet can be."""
    tokens_of_root = {name: bound for name, (_, bound) in TOKEN_TABLE.items()}
    rows = [
        *_rows(PROPERTIES),
        *_rows(tokens_of_root, " on `:root`"),
        *_rows({"margin": OWN_BOUNDS["margin"]}, " on your own elements"),
    ]
    return "| Property | What it can be |\n| --- | --- |\n" + "".join(rows)


def _rows(table: Mapping[str, Bound | None], where: str = "") -> list[str]:
    """Return a row for each bound, with all properties that have it: `margin…` also stands for `margin-top` and the like."""
    named: dict[str, list[str]] = {}
    for name, bound in table.items():
        if bound is not None:
            named.setdefault("on your own elements alone" if bound is ONLY_OWN else bound.expected, []).append(name)
    return [f"| {' '.join(_shortened(names))}{where} | {expected} |\n" for expected, names in named.items()]


def _shortened(names: Sequence[str]) -> Iterator[str]:
    """Yield the names, a shorthand for its longhands if all of them are there."""
    stems = [
        name
        for name in names
        if (longhands := {each for each in PROPERTIES if each.startswith(f"{name}-")}) and longhands <= {*names}
    ]
    for name in names:
        if not any(name.startswith(f"{stem}-") for stem in stems):
            yield f"`{name}…`" if name in stems else f"`{name}`"
