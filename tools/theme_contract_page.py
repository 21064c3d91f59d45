"""The page of the contract of themes, docs/theme-contract.md, from the contracts that check templates."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.contract.themes import mail_templates
from app.contract.themes.layout_templates import CONTRACT, LAYOUTS
from app.contract.themes.page_templates import BLOCKS, EVERYWHERE, PageContract, page_templates
from app.contract.themes.part_bodies import OUR_BODIES
from app.contract.themes.part_templates import PARTS
from app.contract.themes.theme_contract import document, style
from app.kit.templating.contract import Items, TemplateContract, Value, ValueKind
from app.kit.templating.page_classes import OF_LAYOUTS
from app.kit.templating.page_markup import LINE, SHAPES
from app.kit.text.typography import typographic
from tools.theme_contract_samples import EVERY_MAIL, EVERY_PAGE

_Samples = Mapping[str, list[Any]]
"""Samples by the name of the value."""

HEAD = f"""# The contract of themes

<!-- Written by `python -m tools.theme_contract` from the code: change that. -->

What the templates of a [theme](theming.md) can use. This is contract {CONTRACT}: a theme names it as `contract: {CONTRACT}` in
`theme.yaml`. Nothing that it names is taken away or changes its meaning before the next contract; new pages, values,
blocks and parts can be added. A page that a later release adds has the theme’s layout from its first day.

- `{{{{ name }}}}` is a value: text, which is always escaped. `{{% if name %}}` is a flag. `{{% for item in name %}}` is a list.
- `{{{{ name() }}}}` is a part: markup of ours that the template places. **Required** parts stand exactly once, on each way through the
  conditions. Where `has_name` is false, `name()` is empty and can be left out.
- Every template also has `{{{{ text("key") }}}}`: our texts and your own, by the keys of `gatehouse theme texts`. A text with
  placeholders takes their values: `{{{{ text("sign_in_to_name", name=application) }}}}`.
- Examples are from the samples of `gatehouse theme preview`. They’re no promise. `gatehouse theme contract` has them
  as `samples`, by template and value.
"""
LAYOUT_HEAD = """
## Layouts

What surrounds every page.

"""
PART_HEAD = """
## Parts

The insides of fields, buttons and messages, on every page. The element around each is ours: what it sends, where it leads and what
it is for screen readers can't be changed. {lines} are within a line of text: they have {elements}, and nothing that can be pressed.

"""
PAGE_HEAD = """
## Pages

A template of a page replaces blocks of it. In a block, `{{ super() }}` is ours. It’s required in every block but {optional};
some pages require it there, too.

"""
PAGE_ALONE = """
A file without blocks arranges the whole page: its parts are the page’s blocks, such as `{{ heading() }}` and `{{ body() }}`,
and it has a flag for each, such as `has_notice`.

Every page has these values beside its own:

"""
MAIL_HEAD = """
## Emails

`mails/layout.html` surrounds every HTML email. The other files replace blocks of single emails.

"""
CSS_HEAD = """
## CSS

A [style sheet](theming.md#write-css) of a theme can rely on these classes and custom properties. It can name others, too, but they
can change with any release: `gatehouse theme check` warns of them.

"""
PROPERTY_HEAD = """
Custom properties are read with `var(--ink)`. Colors are computed from `theme.yaml`; the other properties can be set on `:root`.

"""


def page() -> str:
    """Return the whole page."""
    samples = document()["samples"]
    optional = [f"`{name}`" for name, (_, is_required) in BLOCKS.items() if not is_required]
    blocks = table("Block", ((f"`{name}`", meaning) for name, (meaning, _) in BLOCKS.items()))
    parts = [HEAD, LAYOUT_HEAD, *(_section(name, contract, samples) for name, contract in LAYOUTS.items())]
    parts += [_part_head(), *(_part(name, contract) for name, contract in PARTS.items())]
    parts += [
        PAGE_HEAD.replace("{optional}", " and ".join(optional)),
        blocks,
        PAGE_ALONE,
        table("Value", value_rows(EVERYWHERE, samples[EVERY_PAGE])),
    ]
    parts += (_of_page(name, found, samples) for name, found in page_templates().items())
    parts += [MAIL_HEAD, *_mails(samples)]
    parts += [CSS_HEAD, *_style()]
    return typographic(re.sub(r"\n{3,}", "\n\n", "".join(parts)))


def _style() -> Iterator[str]:
    made = style()
    yield table(
        "Class of ours",
        (
            (f"`{name}`", each["meaning"] + (f" {_users(name)} can use it." if each["template"] else ""))
            for name, each in made["classes"].items()
        ),
    )
    yield PROPERTY_HEAD
    properties = made["properties"].items()
    yield table("Color", ((f"`{name}`", each["meaning"]) for name, each in properties if not each["set"]))
    yield "\n" + table(
        "Property that a theme can set", ((f"`{name}`", each["meaning"]) for name, each in properties if each["set"])
    )


def _users(name: str) -> str:
    return "Layouts" if name in OF_LAYOUTS else "Templates"


def _part_head() -> str:
    lines = [f"`{name}`" for name, contract in PARTS.items() if contract.dialect is LINE]
    elements = ", ".join(f"`<{name}>`" for name in sorted(LINE.elements - SHAPES))
    return PART_HEAD.format(lines=f"{', '.join(lines[:-1])} and {lines[-1]}", elements=elements)


def table(first: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {shown} | {meaning} |" for shown, meaning in rows]
    return "\n".join((f"| {first} | Meaning |", "| --- | --- |", *lines)) + "\n" if lines else ""


def value_rows(values: Mapping[str, Value | Items], samples: _Samples) -> Iterator[tuple[str, str]]:
    """Yield each value of a template's view as a template writes it, with its meaning and its samples."""
    for key, value in values.items():
        found = samples.get(key, [])
        if isinstance(value, Items):
            members = ", ".join(_member(member, found) for member in value.members)
            yield f"`{{% for item in {key} %}}`", f"{value.meaning} Each has {members}."
        elif value.kind is ValueKind.FLAG:
            yield f"`{{% if {key} %}}`", value.meaning
        else:
            told = [*map(_code, found)]
            if all(code in value.meaning for code in told):
                told = []
            word = " Examples: " if len(told) > 1 else " Example: "
            yield f"`{{{{ {key} }}}}`", value.meaning + (f"{word}{', '.join(told)}." if told else "")


def _member(name: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a member of a list's rows, with that of the first row that has one; flags have none."""
    found = next((row[name] for row in rows if row[name] and row[name] is not True), "")
    return f"`{name}`" + (f" ({_code(found)})" if found else "")


def _code(text: str) -> str:
    return "`" + text.replace("`", "’").replace("|", "\\|") + "`"


def part_rows(contract: TemplateContract) -> Iterator[tuple[str, str]]:
    """Yield each part that a template places, with its meaning."""
    for key, part in contract.parts.items():
        others = "".join(f", or `{each}()` in its place" for each in sorted(contract.instead.get(key, ())))
        yield f"`{{{{ {key}() }}}}`", part.meaning + (f" **Required**{others}." if part.is_required else "")


def _section(name: str, contract: TemplateContract, samples: Mapping[str, _Samples]) -> str:
    rows = (*value_rows(contract.values, samples.get(name, {})), *part_rows(contract))
    return f"\n### `{name}`\n\n{table('In the template', rows)}"


def _part(name: str, contract: TemplateContract) -> str:
    return f"{_section(name, contract, {})}\nOurs:\n\n```html\n{OUR_BODIES[name]}```\n"


def _of_page(name: str, found: PageContract, samples: Mapping[str, _Samples]) -> str:
    kept = [block for block, is_required in found.blocks.items() if is_required and not BLOCKS[block][1]]
    also = f" Here, {' and '.join(f'`{block}`' for block in kept)} must keep `super()`, too." if kept else ""
    blocks = ", ".join(f"`{block}`" for block in found.blocks)
    rows = value_rows(found.values, samples.get(name, {}))
    return f"\n### `{name}`\n\nBlocks: {blocks}.{also}\n\n{table('Value', rows)}"


def _mails(samples: Mapping[str, _Samples]) -> Iterator[str]:
    every = mail_templates.values_of_every_mail()
    yield table(
        "Block of every email", ((f"`{name}`", meaning) for name, (_, meaning) in mail_templates.BLOCKS.items())
    )
    yield "\n" + table("Value of every email", value_rows(every, samples[EVERY_MAIL]))
    yield _section(mail_templates.LAYOUT, mail_templates.LAYOUT_CONTRACT, samples)
    yield "\n### Single emails\n\n| Email | Its own values | Meaning |\n| --- | --- | --- |\n"
    for name, kind in mail_templates.mails().items():
        own = {
            key: value for key, value in mail_templates.block_contract(kind, "intro").values.items() if key not in every
        }
        for shown, meaning in value_rows(own, samples.get(name, {})) if own else [("", f"Type `{kind.value}`.")]:
            yield f"| `{name}` | {shown} | {meaning} |\n"
