"""Runs a checked template. The language makes it finite; the sandbox, a bound of the output and a deadline are further locks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from traceback import walk_tb
from typing import Any, Final, NamedTuple

from jinja2 import Template, meta, nodes
from markupsafe import Markup  # noqa: TID251 - what a checked template wrote

from app.kit.clock import thread_cpu_seconds
from app.kit.templating.contract import TemplateContract
from app.kit.templating.language import parser

MAX_OUTPUT: Final = 256 * 1024
"""Characters, beside those of our parts."""
MAX_SECONDS: Final = 0.25
"""Of the thread: waiting for other threads is no fault of a template."""


class TemplateFailed(Exception):
    """The template did not render; the page has ours in its place."""


class CompiledTemplate:
    """A template that `language.problems` accepts, compiled once. Raises TemplateFailed for one that Python cannot compile."""

    def __init__(self, source: str, contract: TemplateContract) -> None:
        self.contract: Final = contract
        environment = parser()
        try:
            tree = environment.parse(source)
            self.names: frozenset[str] = frozenset(meta.find_undeclared_variables(tree))
            """The values and parts that the template uses."""
            self._template: Template = environment.from_string(tree)
        except Exception as problem:
            raise TemplateFailed(f"{type(problem).__name__}: {problem}") from problem
        self._parts = self.names & contract.parts.keys()
        self._beside = _newer_beside(contract, self._parts, _always_placed(tree))
        self.names |= {name for names in self._beside.values() for name in (*names.before, *names.after)}

    def render(self, values: Mapping[str, Any], parts: Mapping[str, str], text: Callable[..., str]) -> Markup:
        """Return the output.

        Args:
            values: those of the contract that the template uses: texts, flags, and lists of mappings. They are escaped.
            parts: the markup of each part that it uses.
            text: returns the text of a key, with the values of its placeholders by name.

        Raises:
            TemplateFailed: it raised, its output is too large, or it took too long.
        """
        placed = {name: _placing(self._with_newer(name, parts)) for name in self._parts}
        bound = MAX_OUTPUT + sum(len(parts[name]) for name in self._parts)
        try:
            return Markup("".join(_bounded(self._template.generate(**values, **placed, text=text), bound)))  # noqa: S704 - its values are escaped
        except TemplateFailed:
            raise
        except Exception as problem:  # whatever it is, the page has ours in its place
            raise TemplateFailed(_reason(problem)) from problem

    def _with_newer(self, name: str, parts: Mapping[str, str]) -> str:
        beside = self._beside.get(name, _NOTHING)
        return "".join(parts[each] for each in (*beside.before, name, *beside.after))


class _Beside(NamedTuple):
    """The newer parts before and after a part."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


_NOTHING: Final = _Beside()


def _always_placed(tree: nodes.Template) -> frozenset[str]:
    """Return the names that a template calls outside of conditions and loops."""
    outputs = (node for node in tree.body if isinstance(node, nodes.Output))
    calls = (part.node for output in outputs for part in output.nodes if isinstance(part, nodes.Call))
    return frozenset(name.name for name in calls if isinstance(name, nodes.Name))


def _reason(problem: Exception) -> str:
    """Return the line and the kind of the exception. Its message may have a value of the page, which no log and no email should have."""
    lines = [line for frame, line in walk_tb(problem.__traceback__) if "__jinja_exception__" in frame.f_globals]
    return f"line {lines[-1]}: {type(problem).__name__}" if lines else type(problem).__name__


def _newer_beside(
    contract: TemplateContract, placed: Collection[str], always: Collection[str]
) -> Mapping[str, _Beside]:
    """Return where required parts go that are newer than the template: beside a part that it always places.

    Raises TemplateFailed for a template that places none always.
    """
    found: dict[str, _Beside] = {}
    anchors = [name for name in contract.parts if name in always]
    anchor, is_passed = (anchors[0] if anchors else ""), False
    for name, part in contract.parts.items():
        if name in always:
            anchor, is_passed = name, True
        elif name not in placed and part.is_required and name in contract.newer:
            if not anchor:
                raise TemplateFailed(f"it has no place for {name}(): place a required part outside of conditions")
            before, after = found.get(anchor, _NOTHING)
            found[anchor] = _Beside(before, (*after, name)) if is_passed else _Beside((*before, name), after)
    return found


def _placing(markup: str) -> Callable[[], Markup]:
    return lambda: Markup(markup)  # noqa: S704 - our parts


def _bounded(pieces: Iterable[str], bound: int) -> Iterator[str]:
    """Yield the pieces of the output. Raises TemplateFailed where it is longer than the bound, or takes too long."""
    size, deadline = 0, thread_cpu_seconds() + MAX_SECONDS
    for piece in pieces:
        size += len(piece)
        if size > bound or thread_cpu_seconds() > deadline:
            raise TemplateFailed("its output is too large, or it took too long")
        yield piece
