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
from app.kit.design.theme_css.allowed import TOKENS
from app.kit.design.theme_css.check import checked  # noqa: TID253 - as above
from app.kit.templating.contract import ClassEffects, Part, TemplateContract
from app.kit.templating.page_markup import CLASSES, PAGE
from app.kit.text.source_texts import text_keys

_SET_TOKEN: Final = re.compile(r"(?<![\w-])(--(?!own-)[a-z][a-z0-9-]*)\s*:")


def document() -> dict[str, Any]:
    """Return the contract of this version."""
    return {
        **json.loads(CONTRACT_FILE.read_bytes()),
        "layouts": {name: _written(contract) for name, contract in layout_templates.LAYOUTS.items()},
        "parts": {name: _written(contract) for name, contract in part_templates.PARTS.items()},
        "mails": _mails(),
        "texts": sorted(text_keys().current),
        "classes": sorted(CLASSES),
        "tokens": sorted(TOKENS),
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
    effects = ClassEffects(sheet.hiding, sheet.placing)
    dialect = replace(PAGE, classes=frozenset(found["classes"]))
    contracts = {
        name: replace(_read(each), dialect=dialect, is_within_page=name in found["parts"])
        for name, each in (*found["layouts"].items(), *found["parts"].items())
    }
    pages = read_pages(found)
    for name, line, sentence in (
        *layout_templates.problems(contracts, brand, effects),
        *problems(pages, brand, effects),
    ):
        yield ThemeProblem(("templates", name), line, sentence.removeprefix("expected "))
    for name in brand.templates:
        if name not in contracts and name not in pages and not name.startswith(layout_templates.MAILS):
            yield ThemeProblem(
                ("templates", name), 1, "a template that a theme can replace: that version has none with this name"
            )
    for match in _SET_TOKEN.finditer(brand.css):
        if match[1] not in found["tokens"]:
            line = brand.css.count("\n", 0, match.start()) + 1
            yield ThemeProblem(("css",), line, f"a token that a theme can set: that version has no {match[1]}")


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
    }


def _read(found: Mapping[str, Any]) -> TemplateContract:
    return TemplateContract(
        {name: read_value(value) for name, value in found["values"].items()},
        {name: Part(part["meaning"], part["required"], part["since"]) for name, part in found["parts"].items()},
        {name: frozenset(others) for name, others in found["instead"].items()},
    )
