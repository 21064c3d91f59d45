"""What a tenant's templates of pages can use: the blocks and the view of each page (docs/theme-contract.md).

Both follow from the hub's pages. `tools.theme_contract` writes them to `templates/theme_contract.json`, since the identity
service checks templates and knows no pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from app.contract.themes import mail_templates  # noqa: TID253 - templates of themes alone load this module
from app.contract.themes.layout_templates import BRAND, LAYOUTS, TemplatesOfTheme
from app.contract.themes.part_templates import PARTS  # noqa: TID253 - as above
from app.kit.package_files import TEMPLATES
from app.kit.templating import language
from app.kit.templating.blocks import Block, Blocks, blocks_of
from app.kit.templating.contract import (
    NO_EFFECTS,
    ClassEffects,
    Items,
    Part,
    TemplateContract,
    TemplateProblem,
    Value,
    ValueKind,
    flag_of,
)
from app.kit.templating.page_markup import WITHIN

CONTRACT_FILE: Final = TEMPLATES / "theme_contract.json"
MAIN: Final = "main"
"""The block of a whole page: a file without blocks replaces it."""
BLOCKS: Final[Mapping[str, tuple[str, bool]]] = {
    "sign": ("The drawing, the logo or the account above the heading.", False),
    "heading": ("The heading of the page.", True),
    "lead": ("The sentence below the heading.", False),
    "facts": ("What people compare or read before they decide.", True),
    "notice": ("Errors and other messages.", True),
    "methods": ("The other ways to sign in, above the form.", True),
    "body": ("The page’s forms, lists and buttons.", True),
    "more": ("The other ways to sign in, below the form.", True),
    "ways_out": ("The links to other pages.", True),
}
"""Every block that pages have, in their order: its meaning, and whether a page must show it."""
EVERYWHERE: Final[Mapping[str, Value | Items]] = {
    **BRAND,
    "application": Value(ValueKind.TEXT, "The name of the application that the sign-in is for; empty without one."),
    "has_error": Value(ValueKind.FLAG, "Whether the page reports an error."),
}
_ANY_BLOCK: Final = re.compile(r"{%[-+]?\s*block\b")


@dataclass(frozen=True)
class PageContract:
    """The contract of a page's template."""

    values: Mapping[str, Value | Items]
    blocks: Mapping[str, bool]
    """Each block in its order, and whether the page must show it."""
    since: Mapping[str, int] = field(default_factory=dict)
    """The contract that a block came with, if that is not the first."""

    def contract(self, block: str, number: int) -> TemplateContract:
        """Return what the template of a block can use; `main` arranges the others.

        Args:
            number: the contract that the template is written for.
        """
        values = {**EVERYWHERE, **self.values}
        if block != MAIN:
            parts = {"super": Part(BLOCKS[block][0], self.blocks[block])}
            return TemplateContract(values, parts, dialect=WITHIN, is_within_page=True)
        present = {
            flag_of(name): Value(ValueKind.FLAG, f"Whether {name}() has anything on this page.")
            for name in self.blocks
            if name != "heading"
        }
        parts = {
            name: Part(BLOCKS[name][0], is_required, self.since.get(name, 1))
            for name, is_required in self.blocks.items()
        }
        arranged = TemplateContract({**values, **present}, parts, dialect=WITHIN, is_within_page=True)
        return arranged.written_for(number)


@cache
def page_templates() -> Mapping[str, PageContract]:
    """Return the contract of each page's template, by the file's name below `templates/`."""
    return read_pages(json.loads(CONTRACT_FILE.read_bytes()))


def read_pages(document: Mapping[str, Any]) -> dict[str, PageContract]:
    """Return the contracts of pages in a document of a contract."""
    return {
        name: PageContract(
            {key: read_value(value) for key, value in page["values"].items()}, page["blocks"], page.get("since", {})
        )
        for name, page in document["pages"].items()
    }


def names() -> tuple[str, ...]:
    """Return the names of all templates that a theme can replace."""
    return (*LAYOUTS, *PARTS, *page_templates(), *mail_templates.names())


def read_value(value: dict[str, Any]) -> Value | Items:
    if value["kind"] != "list":
        return Value(ValueKind(value["kind"]), value["meaning"])
    members = {name: Value(ValueKind(each["kind"]), each["meaning"]) for name, each in value["members"].items()}
    return Items(members, value["meaning"])


def written(value: Value | Items) -> dict[str, Any]:
    """Return a value of a view as the file has it."""
    if isinstance(value, Items):
        members = {name: written(each) for name, each in value.members.items()}
        return {"kind": "list", "meaning": value.meaning, "members": members}
    return {"kind": value.kind.value, "meaning": value.meaning}


def blocks_in(source: str) -> Blocks:
    """Return the templates of the blocks of a page's file; a file without blocks is that of `main`."""
    return blocks_of(source) if _ANY_BLOCK.search(source) else Blocks({MAIN: Block(source, 1)}, [])


def problems(
    pages: Mapping[str, PageContract], brand: TemplatesOfTheme, is_text: language.IsText, effects: ClassEffects
) -> Iterator[tuple[str, int, str]]:
    """Yield (template, line, what is expected) for what the pages among a theme's templates cannot have."""
    for name, source in brand.templates.items():
        page = pages.get(name)
        if page is not None:
            for problem in page_problems(page, source, brand.contract, is_text, effects):
                yield name, problem.line, problem.sentence


def page_problems(
    page: PageContract, source: str, number: int, is_text: language.IsText, effects: ClassEffects = NO_EFFECTS
) -> Iterator[TemplateProblem]:
    """Yield why a file cannot replace a page's blocks, by block and line."""
    split = blocks_in(source)
    names = [MAIN] if MAIN in split.blocks else page.blocks
    contracts = {name: page.contract(name, number) for name in names}
    return language.problems_of_blocks(source, split, contracts, is_text, effects)
