"""The contract of themes as a document, to check a theme by the contract of another version of Gatehouse (docs/theme-contract.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from app.contract.tenants.branding import Brand
from app.contract.themes import layout_templates, mail_templates, part_templates  # noqa: TID253 - commands about themes alone load this module
from app.contract.themes.page_templates import CONTRACT_FILE, problems, read_pages, read_value, written  # noqa: TID253 - as above
from app.contract.themes.theme_problems import ThemeProblem
from app.kit.design import theme_file_names
from app.kit.design.colour_tokens import COLOUR_TOKENS
from app.kit.design.theme_css.allowed import TOKEN_TABLE
from app.kit.design.theme_css.bounds import OWN
from app.kit.design.theme_css.check import checked  # noqa: TID253 - as above
from app.kit.templating import page_classes
from app.kit.templating.contract import ClassEffects, Part, TemplateContract
from app.kit.templating.mail_markup import MAIL
from app.kit.templating.page_markup import LINE, PAGE, REPEATED
from app.kit.text.source_texts import text_keys

_NAMED: Final = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*|\.[a-z][a-z0-9-]*)")
_SET: Final = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*)\s*:")
_SILENT: Final = re.compile(r"/\*.*?\*/|url\([^)]*\)|\"[^\"\n]*\"|'[^'\n]*'", re.DOTALL)
"""Where names are no selectors and no properties."""


def document() -> dict[str, Any]:
    """Return the contract of this version."""
    return {
        **json.loads(CONTRACT_FILE.read_bytes()),
        "layouts": {name: _written(contract) for name, contract in layout_templates.LAYOUTS.items()},
        "parts": {name: _written(contract) for name, contract in part_templates.PARTS.items()},
        "mails": _mails(),
        "texts": sorted(text_keys().current),
    }


def style() -> dict[str, Any]:
    """Return what a style sheet can name: our classes, and our custom properties."""
    colours = {f"--{name}": {"meaning": token.meaning, "set": False} for name, token in COLOUR_TOKENS.items()}
    tokens = {name: {"meaning": meaning, "set": True} for name, (meaning, _) in TOKEN_TABLE.items()}
    return {
        "classes": {
            name: {"meaning": meaning, "template": name in page_classes.OF_TEMPLATES}
            for name, meaning in page_classes.MEANINGS.items()
        },
        "properties": colours | tokens,
    }


def problems_under(found: Mapping[str, Any], brand: Brand) -> Iterator[ThemeProblem]:
    """Yield what another version's contract, as `document` returns it, refuses in a theme. Raises KeyError for another document."""
    if brand.contract > found["contract"]:
        yield ThemeProblem(("contract",), 0, f"at most contract {found['contract']}")
    texts = frozenset(found["texts"])
    for tag, wordings in brand.texts.items():
        for key in wordings:
            if not key.startswith("own.") and key not in texts:
                yield ThemeProblem(("texts", tag, key), 0, "a key of a text: that version has none with this name")
    sheet = checked(brand.css, theme_file_names.addresses(brand.files))
    effects = ClassEffects(sheet.hiding, sheet.placing, sheet.causes)
    classes = frozenset(name for name, each in found["classes"].items() if each["template"])
    contracts = {
        name: replace(_read(each), dialect=replace(dialect, classes=usable), is_within_page=is_part)
        for name, each, dialect, usable, is_part in (
            *((name, each, PAGE, classes, False) for name, each in found["layouts"].items()),
            *(
                (name, each, LINE, LINE.classes & classes, True)
                if each.get("is_line")
                else (name, each, REPEATED, REPEATED.classes & classes, True)
                for name, each in found["parts"].items()
            ),
        )
    }
    pages, mails, is_text = read_pages(found), found["mails"], layout_templates.is_shown(brand.texts, texts)
    for name, line, sentence in (
        *layout_templates.problems(contracts, brand, is_text, effects),
        *problems(pages, brand, is_text, effects),
        *mail_templates.problems(*_read_mails(mails), brand.templates, is_text),
    ):
        yield ThemeProblem(("templates", name), line, sentence.removeprefix("expected "))
    for name in brand.templates:
        if name not in contracts and name not in pages and name not in mails:
            yield ThemeProblem(
                ("templates", name), 1, "a template that a theme can replace: that version has none with this name"
            )
    yield from _style_problems(found, brand.css)


def _style_problems(found: Mapping[str, Any], css: str) -> Iterator[ThemeProblem]:
    """Yield what of ours a style sheet names that another version does not promise, though this one does."""
    ours, theirs = style(), found["properties"]
    for line, kind, name in _named(css):
        if name in ours[kind] and name not in found[kind]:
            shown = f"the class .{name}" if kind == "classes" else f"the property {name}"
            yield ThemeProblem(("css",), line, f"what the contract promises: that version has not {shown}")
    for match in _SET.finditer(css):
        if (name := match[1]) in theirs and not theirs[name]["set"] and ours["properties"].get(name, {}).get("set"):
            line = css.count("\n", 0, match.start()) + 1
            yield ThemeProblem(("css",), line, f"a custom property that a theme can set: that version computes {name}")


def unpromised(css: str) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of each class and custom property that a style sheet names, and that the contract does not promise."""
    ours, seen = style(), set[str]()
    for line, kind, name in _named(css):
        if not name.removeprefix("--").startswith(OWN) and name not in ours[kind] and name not in seen:
            seen.add(name)
            yield line, name if kind == "properties" else f".{name}"


def _named(css: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, kind, name) of each class and custom property in a style sheet."""
    without = _SILENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), css)
    for match in _NAMED.finditer(without):
        kind = "properties" if match[1].startswith("--") else "classes"
        yield css.count("\n", 0, match.start()) + 1, kind, match[1].removeprefix(".")


def _mails() -> dict[str, Any]:
    """Return the blocks and values of each mail, and what its layout can use."""
    layout = {mail_templates.LAYOUT: _written(mail_templates.LAYOUT_CONTRACT)}
    return layout | {
        name: {
            "blocks": list(mail_templates.BLOCKS),
            "values": _written(mail_templates.block_contract(kind, "intro"))["values"],
        }
        for name, kind in mail_templates.mails().items()
    }


def _written(contract: TemplateContract) -> dict[str, Any]:
    return {
        "values": {name: written(value) for name, value in contract.values.items()},
        "parts": {
            name: {"meaning": part.meaning, "required": part.is_required, "since": part.since}
            for name, part in contract.parts.items()
        },
        "instead": {name: sorted(others) for name, others in contract.instead.items()},
        **({"is_line": True} if contract.dialect is LINE else {}),
    }


def _read_mails(found: Mapping[str, Any]) -> tuple[TemplateContract, mail_templates.MailContracts]:
    """Return the contracts of the layout of mails, and of the blocks of each: this version knows no others."""
    layout = replace(_read(found[mail_templates.LAYOUT]), dialect=MAIL)
    of_blocks = {}
    for name, each in found.items():
        if name != mail_templates.LAYOUT:
            values = {key: read_value(value) for key, value in each["values"].items()}
            blocks = [block for block in each["blocks"] if block in mail_templates.BLOCKS]
            of_blocks[name] = {block: mail_templates.contract_with(values, block) for block in blocks}
    return layout, of_blocks


def _read(found: Mapping[str, Any]) -> TemplateContract:
    return TemplateContract(
        {name: read_value(value) for name, value in found["values"].items()},
        {name: Part(part["meaning"], part["required"], part["since"]) for name, part in found["parts"].items()},
        {name: frozenset(others) for name, others in found["instead"].items()},
    )
