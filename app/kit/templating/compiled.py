"""Runs a checked template. The language makes it finite; the sandbox, a bound of the output and a deadline are further locks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from traceback import walk_tb
from typing import Any, Final

from jinja2 import Template, meta
from markupsafe import Markup  # noqa: TID251 - what a checked template wrote

from app.kit.clock import monotonic
from app.kit.templating.contract import TemplateContract
from app.kit.templating.language import parser

MAX_OUTPUT: Final = 256 * 1024
MAX_SECONDS: Final = 0.25


class TemplateFailed(Exception):
    """The template did not render; the page has ours in its place."""


class CompiledTemplate:
    """A template that `language.problems` accepts, compiled once. Raises TemplateFailed for one that Python cannot compile."""

    def __init__(self, source: str, contract: TemplateContract) -> None:
        environment = parser()
        try:
            self.names: frozenset[str] = frozenset(meta.find_undeclared_variables(environment.parse(source)))
            """The values and parts that the template uses."""
            self._template: Template = environment.from_string(source)
        except Exception as problem:
            raise TemplateFailed(f"{type(problem).__name__}: {problem}") from problem
        self._parts = self.names & contract.parts.keys()
        self._late = _late_after(contract, self._parts)
        self.names |= {late for names in self._late.values() for late in names}

    def render(self, values: Mapping[str, Any], parts: Mapping[str, str], text: Callable[..., str]) -> Markup:
        """Return the output.

        Args:
            values: those of the contract that the template uses: texts, flags, and lists of mappings. They are escaped.
            parts: the markup of each part that it uses.
            text: returns the text of a key, with the values of its placeholders by name.

        Raises:
            TemplateFailed: it raised, its output is too large, or it took too long.
        """
        late = self._late
        placed = {
            name: _placing("".join((parts[name], *(parts[each] for each in late.get(name, ())))))
            for name in self._parts
        }
        try:
            return Markup("".join(_bounded(self._template.generate(**values, **placed, text=text))))  # noqa: S704 - its values are escaped
        except TemplateFailed:
            raise
        except Exception as problem:  # whatever it is, the page has ours in its place
            raise TemplateFailed(_reason(problem)) from problem


def _reason(problem: Exception) -> str:
    """Return the line and the kind of the exception. Its message may have a value of the page, which no log and no email should have."""
    lines = [line for frame, line in walk_tb(problem.__traceback__) if "__jinja_exception__" in frame.f_globals]
    return f"line {lines[-1]}: {type(problem).__name__}" if lines else type(problem).__name__


def _late_after(contract: TemplateContract, placed: Collection[str]) -> Mapping[str, Sequence[str]]:
    """Return the required parts that came after the template was written, each by the placed part that stands before it."""
    late: dict[str, list[str]] = {}
    before = next((name for name in contract.parts if name in placed), "")
    for name, part in contract.parts.items():
        if name in placed:
            before = name
        elif part.is_required and name in contract.late and before:
            late.setdefault(before, []).append(name)
    return late


def _placing(markup: str) -> Callable[[], Markup]:
    return lambda: Markup(markup)  # noqa: S704 - our parts


def _bounded(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces of the output. Raises TemplateFailed where a bound is passed."""
    size, deadline = 0, monotonic() + MAX_SECONDS
    for piece in pieces:
        size += len(piece)
        if size > MAX_OUTPUT or monotonic() > deadline:
            raise TemplateFailed("its output is too large, or it took too long")
        yield piece
