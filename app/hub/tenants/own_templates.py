"""A tenant's own templates of layouts, parts and pages: compiled once; ours stand in the place of one that fails."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from markupsafe import Markup, escape  # noqa: TID251 - what a checked template wrote

from app.contract.themes.layout_templates import CONTRACT, LAYOUTS, MAILS
from app.kit.caching.lru_cache import SharedCache
from app.kit.design import theme_file_names
from app.kit.observability.throttled_log import ThrottledLog
from app.kit.templating import language
from app.kit.templating.compiled import CompiledTemplate, TemplateFailed
from app.kit.templating.contract import NO_EFFECTS, ClassEffects, TemplateContract

NO_FILES: Final[Mapping[str, str]] = {}
Failed = Callable[[str, str], None]
"""Is called with the name and the reason of a template that failed."""


Blocks = Mapping[str, CompiledTemplate]
"""By the name of the block; a layout and a part are the only one of their file."""
MAX_COMPILED: Final = 2_000
"""Templates in the memory of a process, of all tenants: those of one tenant evict no other's while it has the most."""
_WHOLE: Final = ""
"""The block of a layout or a part."""
_UNKNOWN: Final = "this version has no such template"


def _compile_nothing(name: str) -> Blocks:  # noqa: ARG001 - the signature of `OwnTemplates.compile`
    raise TemplateFailed(_UNKNOWN)


@dataclass(frozen=True)
class OwnTemplates:
    """The templates of one theme, each compiled at its first use, once in a process. Thread-safe."""

    digest: str = ""
    """Two objects with the same digest have the same templates."""
    tenant: str = field(default="", compare=False)
    """The name of the tenant whose they are."""
    digests: Mapping[str, str] = field(default_factory=dict, compare=False)
    """By name: what each template is compiled from."""
    layouts_and_parts: frozenset[str] = field(default=frozenset(), compare=False)
    has_parts: bool = field(default=False, compare=False)
    """Whether it has templates of parts, such as fields."""
    pages: frozenset[str] = field(default=frozenset(), compare=False)
    """The names of the pages' templates."""
    left_out: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """The names of templates that this version does not know, each with the reason."""
    compile: Callable[[str], Blocks] = field(default=_compile_nothing, compare=False)
    """Compiles the template with a name. Raises TemplateFailed."""

    def blocks(self, name: str) -> Blocks:
        """Return the compiled blocks of a template of this theme. Raises TemplateFailed if this version cannot use it."""
        key = (name, self.digests.get(name, ""))
        found = COMPILED.get_or_make(self.tenant, key, partial(self._attempt, name))
        if isinstance(found, str):
            raise TemplateFailed(found)
        return found

    def render(
        self, name: str, text: Callable[..., str], values: Mapping[str, Any], parts: Mapping[str, str], failed: Failed
    ) -> Markup:
        """Return the output of a layout or part; empty if the theme has none of the name, or if it fails, which calls `failed`."""
        if name not in self.layouts_and_parts:
            return Markup()
        try:
            template = self.blocks(name)[_WHOLE]
            return template.render(values, {part: escape(markup) for part, markup in parts.items()}, text)
        except TemplateFailed as problem:
            failed(name, str(problem))
            return Markup()

    def _attempt(self, name: str) -> Blocks | str:
        """Return the blocks, or why this version refuses them, which is found out once, too.

        Raises TemplateFailed for a fault of ours, which may be gone at the next attempt, such as too little memory.
        """
        try:
            return self.compile(name)
        except TemplateFailed as problem:
            return str(problem)
        except Exception as problem:
            kind = type(problem).__name__
            _faults.write(kind, "a template of a theme was not compiled", template=name, problem=f"{kind}: {problem}")
            raise TemplateFailed(kind) from problem


NO_TEMPLATES: Final = OwnTemplates()
COMPILED: Final[SharedCache[tuple[str, str], Blocks | str]] = SharedCache(MAX_COMPILED)
"""By tenant, name and digest of a template; the reason in place of one that cannot be used. Brands that share a template share it."""
_faults: Final = ThrottledLog(logging.getLogger("gatehouse.hub"), logging.ERROR)


def own_templates(
    templates: Mapping[str, str],
    effects: ClassEffects = NO_EFFECTS,
    number: int = CONTRACT,
    files: Mapping[str, str] = NO_FILES,
    tenant: str = "",
) -> OwnTemplates:
    """Return the templates of a theme; one that this version does not know is left out.

    Args:
        effects: of the style sheet, which may be another theme's than the templates.
        number: the contract that they are written for.
        files: the digests of the theme's files by their names, which templates have as addresses of pictures.
        tenant: the name of the tenant.
    """
    shown = {name: source for name, source in templates.items() if not name.startswith(MAILS)}  # pages show no mails
    if not shown:
        return NO_TEMPLATES
    from app.contract.themes.page_templates import page_templates
    from app.contract.themes.part_templates import PARTS

    layouts_and_parts = shown.keys() & {*LAYOUTS, *PARTS}
    pages = shown.keys() & page_templates().keys()
    around = [sorted(effects.hiding), sorted(effects.placing), list(effects.causes), number]
    digests = {
        name: _digest([source, theme_file_names.in_template(source, files), around]) for name, source in shown.items()
    }
    return OwnTemplates(
        _digest(digests),
        tenant,
        digests,
        frozenset(layouts_and_parts),
        not PARTS.keys().isdisjoint(layouts_and_parts),
        frozenset(pages),
        tuple((name, _UNKNOWN) for name in shown if name not in layouts_and_parts | pages),
        partial(_compile, shown, effects, number, files),
    )


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _compile(
    templates: Mapping[str, str], effects: ClassEffects, number: int, files: Mapping[str, str], name: str
) -> Blocks:
    from app.contract.themes.part_templates import PARTS

    known: dict[str, TemplateContract] = {**LAYOUTS, **PARTS}
    if (contract := known.get(name)) is not None:
        return {_WHOLE: _compiled(templates[name], contract.written_for(number), effects, files)}
    return _compiled_page(name, templates[name], effects, number, files)


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

    page = page_templates.page_templates()[name]
    if found := next(page_templates.page_problems(page, source, number, lambda _: True, effects), None):
        raise TemplateFailed(f"line {found.line}: {found.sentence}")
    blocks, _ = page_templates.blocks_in(theme_file_names.in_template(source, files))
    return {block: CompiledTemplate(inner, page.contract(block, number)) for block, (inner, _) in blocks.items()}
