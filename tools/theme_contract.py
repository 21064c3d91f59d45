"""The contract of themes: writes templates/theme_contract.json and docs/theme-contract.md from the hub's pages.

    python -m tools.theme_contract [--check | --release]

What is released (`theme_contract_released`) is never taken away: the tool then fails.

A value of a page's view is a field or property of the page's class with a docstring, which is its meaning, and with a type that
a template can show: number, flag, state, text that `theme_contract_shown` names, or a list of rows of those.
"""

from __future__ import annotations

import ast
import enum
import inspect
import itertools
import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from jinja2 import Environment, nodes

from app.commands.theme.changes import our_blocks
from app.contract.themes.layout_templates import CONTRACT
from app.contract.themes.page_templates import BLOCKS, CONTRACT_FILE, MAIN, page_templates, read_pages, written
from app.contract.themes.theme_contract import style
from app.hub import create_app
from app.hub.gallery import all_samples
from app.hub.rendering.page import Page
from app.kit.package_files import DOCS, TEMPLATES
from app.kit.templating.contract import Items, Value, ValueKind
from app.settings import Settings
from tools.theme_contract_page import page
from tools.theme_contract_released import release, removed
from tools.theme_contract_samples import samples
from tools.theme_contract_shown import SHOWN

PAGE = DOCS / "theme-contract.md"


def views() -> Mapping[str, dict[str, Any]]:
    """Return the view and the blocks of each page's template, by the file's name."""
    app = create_app(Settings(secrets=(b"a secret of the tool, long enough",), development=True))
    with app.app_context():
        pages: dict[str, list[type[Page]]] = {}
        for page, _ in all_samples():
            kinds = pages.setdefault(page.template, [])
            if page not in kinds:
                kinds.append(page)
    return {name: _entry(name, kinds) for name, kinds in sorted(pages.items()) if name not in OURS_ALONE}


OURS_ALONE = frozenset({"components/form_post.html", "components/unknown_tenant.html", "theme_editor.html"})
"""Templates that no theme replaces: nobody sees the first, the second is of no tenant, the third edits themes."""


def _entry(name: str, pages: list[type[Page]]) -> dict[str, Any]:
    shared = [dict(_values(page)) for page in pages]
    common = {key: value for key, value in shared[0].items() if all(other.get(key) == value for other in shared)}
    required = frozenset[str]().union(*(page.required_blocks for page in pages))
    _require_alerts(name, required)
    blocks = {block: BLOCKS[block][1] or block in required for block in _blocks(name)}
    return {"values": {key: written(common[key]) for key in sorted(common)}, "blocks": blocks}


def _blocks(name: str) -> list[str]:
    """Return the blocks of a template in their order. Raises ValueError unless its block `main` is made of blocks alone."""
    tree = Environment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.i18n"], autoescape=True).parse(
        (TEMPLATES / name).read_text(encoding="utf-8")
    )
    main = next((block for block in tree.find_all(nodes.Block) if block.name == MAIN), None)
    if main is None:
        raise ValueError(f"{name} has no block main")
    found = []
    for node in main.body:
        if isinstance(node, nodes.Block):
            found.append(node.name)
        elif not _is_frame(node):
            raise ValueError(f"{name}:{node.lineno}: expected blocks alone within main")
    if strange := [block for block in found if block not in BLOCKS]:
        raise ValueError(f"{name}: {strange[0]} is no block of page_templates.BLOCKS")
    if found != [block for block in BLOCKS if block in found]:
        raise ValueError(f"{name}: expected the blocks in the order {', '.join(BLOCKS)}")
    return found


def _require_alerts(name: str, required: frozenset[str]) -> None:
    """Raise ValueError for an alert in a block that a theme can leave out."""
    for block, (_, is_required) in BLOCKS.items():
        if not is_required and block not in required and 'role="alert"' in our_blocks(name).get(block, ""):
            raise ValueError(f"{name}: the block {block} has an alert: add it to required_blocks of the page")


def _is_frame(node: nodes.Node) -> bool:
    """Return whether a node of `main` is white space, or the narrow column around the blocks."""
    text = "".join(part.data for part in node.find_all(nodes.TemplateData)) if isinstance(node, nodes.Output) else "?"
    return text.strip() in ("", '<div class="narrow">', "</div>")


def _values(page: type[Page]) -> Iterator[tuple[str, Value | Items]]:
    hints, meanings = get_type_hints(page), _field_docstrings(page)
    ours = {item.name for item in fields(Page)} | set(dir(Page)) | BLOCKS.keys()
    for item in fields(page):
        if item.name not in ours and (meaning := meanings.get(item.name)):
            yield from _value(page, item.name, hints[item.name], meaning)
    for name in dir(page):
        member = inspect.getattr_static(page, name)
        if isinstance(member, property) and not name.startswith("_") and name not in ours and member.__doc__:
            yield from _value(page, name, get_type_hints(member.fget).get("return"), member.__doc__)


def _value(page: type[Page], name: str, hint: Any, meaning: str) -> Iterator[tuple[str, Value | Items]]:
    """Yield the value of a field or property, if it is one. Raises ValueError for one that hides a function."""
    if name == "text" and (not _is_text(hint) or _is_shown(page, name)):
        raise ValueError(f"{page.__name__}.{name} would hide text() from the templates of its page: name it otherwise")
    sentence = " ".join(meaning.split())
    if (kind := _kind(hint)) is not None:
        if not _is_text(hint) or _is_shown(page, name):
            yield name, Value(kind, sentence)
    elif (row := _row(hint)) is not None and (members := dict(_members(row))):
        yield name, Items(members, sentence)


def _members(row: type) -> Iterator[tuple[str, Value]]:
    hints, meanings = get_type_hints(row), _field_docstrings(row)
    for item in fields(row):
        kind = _kind(hints[item.name])
        if kind is not None and (not _is_text(hints[item.name]) or _is_shown(row, item.name)):
            yield item.name, Value(kind, " ".join(meanings.get(item.name, "").split()))


def _is_shown(kind: type, name: str) -> bool:
    """Return whether the class that has a text says that templates can show it."""
    for each in kind.__mro__:
        if name in vars(each) or name in vars(each).get("__annotations__", {}):
            return name in SHOWN.get(each.__name__, ())
    return False


def _is_text(hint: Any) -> bool:
    """Return whether a type can have any text: not a number, flag or state."""
    return hint in (str, Any) or bool({str, Any}.intersection(get_args(hint)))


def _kind(hint: Any) -> ValueKind | None:
    """Return what a template sees of a type; None for what it cannot show."""
    arguments = [each for each in get_args(hint) if each is not type(None)]
    if type(None) in get_args(hint) and len(arguments) == 1:
        hint = arguments[0]
    if hint is bool:
        return ValueKind.FLAG
    is_state = get_origin(hint) is Literal or (inspect.isclass(hint) and issubclass(hint, enum.Enum))
    return ValueKind.TEXT if hint in (str, int, Any) or is_state else None


def _row(hint: Any) -> type | None:
    """Return the class of the rows of a list; None for other types."""
    arguments = get_args(hint)
    is_list = get_origin(hint) is tuple and len(arguments) == 2 and arguments[1] is Ellipsis
    row = arguments[0] if is_list else None
    return row if inspect.isclass(row) and is_dataclass(row) else None


def _field_docstrings(kind: type) -> dict[str, str]:
    found: dict[str, str] = {}
    for base in filter(is_dataclass, reversed(kind.__mro__)):
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0].body  # type: ignore[attr-defined]  # the source of a class is a class
        for name, text in itertools.pairwise(body):
            match name, text:
                case ast.AnnAssign(target=ast.Name(id=field_name)), ast.Expr(value=ast.Constant(value=str(words))):
                    found[field_name] = words
    return found


def document() -> str:
    """Return the contract as JSON."""
    pages = views()
    found = samples({name: page.values for name, page in read_pages({"pages": pages}).items()})
    made = {"contract": CONTRACT, **style(), "pages": pages, "samples": found}
    return json.dumps(made, indent=1, ensure_ascii=False, sort_keys=False) + "\n"


def main() -> int:
    made, is_check = document(), "--check" in sys.argv[1:]
    if is_check and (CONTRACT_FILE.read_text(encoding="utf-8") != made or PAGE.read_text(encoding="utf-8") != page()):
        print("The contract of themes is not current: run python -m tools.theme_contract.")
        return 1
    if not is_check:
        CONTRACT_FILE.write_text(made, encoding="utf-8")
        page_templates.cache_clear()
        PAGE.write_text(page(), encoding="utf-8")
    if taken := removed():
        print(f"Contract {CONTRACT} promises what is gone:", *taken, "Keep it, or add a contract.", sep="\n")
        return 1
    if "--release" in sys.argv[1:]:
        release()
    return 0


if __name__ == "__main__":
    sys.exit(main())
