"""A tenant's own templates of layouts, parts and pages: compiled once; ours stand in the place of one that fails."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from markupsafe import Markup, escape  # noqa: TID251 - what a checked template wrote

from app.contract.themes.layout_templates import CONTRACT, LAYOUTS, MAILS
from app.kit.design import theme_file_names
from app.kit.templating import language
from app.kit.templating.compiled import CompiledTemplate, TemplateFailed
from app.kit.templating.contract import NO_EFFECTS, ClassEffects, TemplateContract

NO_FILES: Final[Mapping[str, str]] = {}
Failed = Callable[[str, str], None]
"""Is called with the name and the reason of a template that failed."""


@dataclass(frozen=True)
class OwnTemplates:
    """The templates of one theme."""

    digest: str = ""
    """Two objects with the same digest have the same templates."""
    layouts_and_parts: Mapping[str, CompiledTemplate] = field(default_factory=dict, compare=False)
    has_parts: bool = field(default=False, compare=False)
    """Whether it has templates of parts, such as fields."""
    pages: Mapping[str, Mapping[str, CompiledTemplate]] = field(default_factory=dict, compare=False)
    """By the name of a page's template: its own blocks by their names."""
    left_out: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """The names of templates that this version cannot use, each with the reason."""

    def render(
        self, name: str, text: Callable[..., str], values: Mapping[str, Any], parts: Mapping[str, str], failed: Failed
    ) -> Markup:
        """Return the output of a layout or part; empty if the theme has none of the name, or if it fails, which calls `failed`."""
        template = self.layouts_and_parts.get(name)
        if template is None:
            return Markup()
        try:
            return template.render(values, {part: escape(markup) for part, markup in parts.items()}, text)
        except TemplateFailed as problem:
            failed(name, str(problem))
            return Markup()


NO_TEMPLATES: Final = OwnTemplates()


def own_templates(
    templates: Mapping[str, str],
    effects: ClassEffects = NO_EFFECTS,
    number: int = CONTRACT,
    files: Mapping[str, str] = NO_FILES,
) -> OwnTemplates:
    """Return the compiled templates, from memory if they were compiled before.

    Args:
        effects: of the style sheet, which may be another theme's than the templates.
        number: the contract that they are written for.
        files: the digests of the theme's files by their names, which templates have as addresses of pictures.
    """
    if not templates:
        return NO_TEMPLATES
    return _cached(json.dumps([templates, files], sort_keys=True), effects, number)


@lru_cache(maxsize=128)
def _cached(theme: str, effects: ClassEffects, number: int) -> OwnTemplates:
    templates, files = json.loads(theme)
    return compile_templates(templates, effects, number, files)


def compile_templates(
    templates: Mapping[str, str], effects: ClassEffects, number: int, files: Mapping[str, str]
) -> OwnTemplates:
    """Return the compiled templates; one that this version does not know, or cannot compile, is left out."""
    from app.contract.themes.part_templates import PARTS

    known: dict[str, TemplateContract] = {**LAYOUTS, **PARTS}
    compiled: dict[str, CompiledTemplate] = {}
    pages: dict[str, Mapping[str, CompiledTemplate]] = {}
    left_out: list[tuple[str, str]] = []
    for name, source in templates.items():
        if name.startswith(MAILS):  # the identity service renders those
            continue
        try:
            if (contract := known.get(name)) is not None:
                compiled[name] = _compiled(source, contract.written_for(number), effects, files)
            else:
                pages[name] = _compiled_page(name, source, effects, number, files)
        except TemplateFailed as problem:
            left_out.append((name, str(problem)))
    theme = json.dumps([templates, files, sorted(effects.hiding), sorted(effects.placing), number], sort_keys=True)
    digest = hashlib.sha256(theme.encode()).hexdigest()
    return OwnTemplates(digest, compiled, not compiled.keys().isdisjoint(PARTS), pages, tuple(left_out))


def _compiled(
    source: str, contract: TemplateContract, effects: ClassEffects, files: Mapping[str, str]
) -> CompiledTemplate:
    """Return a compiled template. What was stored was checked, but an upgrade may have changed what it can use."""
    if found := language.problems(source, contract, lambda _: True, effects):
        raise TemplateFailed(f"line {found[0].line}: {found[0].sentence}")
    return CompiledTemplate(theme_file_names.in_template(source, files), contract)


def _compiled_page(
    name: str, source: str, effects: ClassEffects, number: int, files: Mapping[str, str]
) -> Mapping[str, CompiledTemplate]:
    """Return the compiled blocks of a page's template."""
    from app.contract.themes import page_templates

    page = page_templates.page_templates().get(name)
    if page is None:
        raise TemplateFailed("this version has no such template")
    if found := next(page_templates.page_problems(page, source, number, lambda _: True, effects), None):
        raise TemplateFailed(f"line {found.line}: {found.sentence}")
    blocks, _ = page_templates.blocks_in(theme_file_names.in_template(source, files))
    return {block: CompiledTemplate(inner, page.contract(block, number)) for block, (inner, _) in blocks.items()}
