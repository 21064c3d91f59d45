"""Renders a page with blocks of the tenant's own in place of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

from jinja2.runtime import Context
from markupsafe import Markup  # noqa: TID251 - what our blocks wrote

from app.contract.themes.page_templates import MAIN  # noqa: TID253 - pages of themes alone load this module
from app.hub.rendering.frame import OwnBlock, Rendering
from app.hub.rendering.own_layouts import reporting, shared_values, text_of
from app.kit.templating.compiled import CompiledTemplate, TemplateFailed
from app.kit.templating.contract import Items, TemplateContract, Value, ValueKind, part_of_flag


def own_blocks(template: str, rendering: Rendering) -> Mapping[str, OwnBlock]:
    """Return the tenant's own blocks of a page's template by their names; none if this version cannot use them."""
    try:
        own = rendering.brand.templates.blocks(template)
    except TemplateFailed as problem:
        reporting(rendering.brand)(template, str(problem))
        return {}
    return {name: _OwnBlock(template, name, block, rendering) for name, block in own.items()}


class _OwnBlock:
    """A tenant's block in place of ours; ours where it fails."""

    def __init__(self, template: str, name: str, block: CompiledTemplate, rendering: Rendering) -> None:
        self._template = template
        self._name = name
        self._block = block
        self._rendering = rendering

    def __call__(self, context: Context) -> Iterator[str]:
        contract = self._block.contract
        placed = _Placed(context, self._name)
        parts = {name: placed.part(name) for name in self._block.names & contract.parts.keys()}
        try:
            yield self._render(contract, placed, parts)
        except TemplateFailed as problem:
            reporting(self._rendering.brand)(self._template, f"block {self._name}: {problem}")
            yield from context.blocks[self._name][1](context)

    def _render(self, contract: TemplateContract, placed: _Placed, parts: Mapping[str, str]) -> Markup:
        brand, frame = self._rendering.brand, self._rendering.frame
        shared = shared_values(brand, frame.language) | {"application": frame.visit.relying_party}
        try:
            values = {
                name: shared[name] if name in shared else self._value(contract, name, placed)
                for name in self._block.names & contract.values.keys()
            }
        except Exception as problem:  # a value that this state of the page does not have
            raise TemplateFailed(f"a value of the page: {type(problem).__name__}") from problem
        return self._block.render(values, parts, text_of(brand, frame.language))

    def _value(self, contract: TemplateContract, name: str, placed: _Placed) -> Any:
        if part := part_of_flag(name, contract.parts.keys()):
            return bool(placed.part(part).strip())
        return shown(getattr(self._rendering.page, name), contract.values[name])


class _Placed:
    """The markup of our blocks on this page, rendered where the tenant's template uses it."""

    def __init__(self, context: Context, block: str) -> None:
        self._context = context
        self._block = block
        self._markup: dict[str, str] = {}

    def part(self, name: str) -> str:
        """Return the markup of a part: `super`, or a block of the page."""
        if name not in self._markup:
            self._markup[name] = "".join(self._function(name)(self._context))
        return self._markup[name]

    def _function(self, name: str) -> Callable[[Context], Iterator[str]]:
        if self._block != MAIN:
            return self._context.blocks[self._block][1]
        return self._context.blocks[name][0]


def shown(value: Any, declared: Value | Items) -> Any:
    """Return a value of a page as templates see it: a flag, plain text, or a list of mappings."""
    if isinstance(declared, Items):
        return [{name: shown(getattr(row, name), each) for name, each in declared.members.items()} for row in value]
    if declared.kind is ValueKind.FLAG:
        return bool(value)
    if value is None:
        return ""
    if isinstance(value, Enum):
        value = value.value
    return Markup(value).striptags() if hasattr(value, "__html__") and isinstance(value, str) else str(value)  # noqa: S704 - only to take its tags away
