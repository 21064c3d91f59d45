"""Splits a template of blocks alone: each `{% block NAME %}…{% endblock %}` is then checked and compiled as a template of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from jinja2 import Environment, TemplateSyntaxError

from app.kit.templating.contract import TemplateProblem

_LEXER: Final = Environment(trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - it reads tokens and renders nothing
_OUTSIDE: Final[Mapping[str, str]] = {
    "extends": "no {% extends %}: the blocks replace those of the built-in template",
    "endblock": "no {% endblock %} without a {% block NAME %} before it",
}


class Block(NamedTuple):
    """The template within a block."""

    source: str
    line: int
    """Of the file, where the source begins."""


class Blocks(NamedTuple):
    """The blocks of a file by name, in their order, and why the file cannot be split in full."""

    blocks: Mapping[str, Block]
    problems: Sequence[TemplateProblem]


class _Piece(NamedTuple):
    """A tag with its words, or what stands between tags, which has none."""

    line: int
    text: str
    words: tuple[str, ...]
    is_blank: bool
    """Whether it renders nothing: white space or a comment."""


def blocks_of(source: str) -> Blocks:
    """Return the blocks of a file; a block within another, or one that has no end, is left out and a problem."""
    splitter = _Splitter()
    try:
        for piece in _pieces(source):
            splitter.read(piece)
    except TemplateSyntaxError as problem:
        splitter.problem(problem.lineno, f"valid Jinja: {problem.message}")
    else:
        splitter.finish()
    return Blocks(splitter.blocks, sorted(set(splitter.problems)))


@dataclass
class _Splitter:
    """Reads the pieces of a file in their order."""

    blocks: dict[str, Block] = field(default_factory=dict)
    problems: list[TemplateProblem] = field(default_factory=list)
    _name: str = ""
    _begin: int = 0
    """The line of the open block's tag."""
    _inner: list[_Piece] = field(default_factory=list)
    _nested: int = 0
    """How many blocks are open within the open block."""

    def problem(self, line: int, sentence: str) -> None:
        self.problems.append(TemplateProblem(line, f"expected {sentence}"))

    def read(self, piece: _Piece) -> None:
        """Read the next piece."""
        word = piece.words[0] if piece.words else ""
        if not self._name:
            self._outside(piece, word)
        elif word == "block":
            self.problem(piece.line, f"no block within the block {self._name}")
            self._nested += 1
        elif word == "endblock" and self._nested:
            self._nested -= 1
        elif word == "endblock":
            self._end(piece)
        else:
            self._inner.append(piece)

    def finish(self) -> None:
        """Read the end of the file."""
        if self._name:
            self.problem(self._begin, f"{{% endblock %}} for this {{% block {self._name} %}}")

    def _outside(self, piece: _Piece, word: str) -> None:
        if word == "block":
            self._name, self._begin, self._inner = " ".join(piece.words[1:]) or "?", piece.line, []
            if not self._name.isidentifier():
                self.problem(piece.line, "{% block NAME %} with one name alone")
        elif not piece.is_blank:
            self.problem(piece.line, _OUTSIDE.get(word, "everything within a {% block NAME %}"))

    def _end(self, end: _Piece) -> None:
        name, self._name = self._name, ""
        if end.words[1:] not in ((), (name,)):
            self.problem(end.line, f"{{% endblock %}} or {{% endblock {name} %}}")
        if name in self.blocks:
            self.problem(self._begin, f"the block {name} once")
        if name in self.blocks or not name.isidentifier():
            return
        first = self._inner[0].line if self._inner else end.line
        self.blocks[name] = Block(_joined(self._inner, first), first)


def _joined(pieces: Sequence[_Piece], line: int) -> str:
    """Return the source of the pieces, each on its line: Jinja takes the white space before `{%-` away, with its breaks."""
    joined, at = [], line
    for piece in pieces:
        breaks = "\n" * (piece.line - at)
        joined.append(breaks + piece.text)
        at = piece.line + piece.text.count("\n")
    return "".join(joined)


def _pieces(source: str) -> Iterator[_Piece]:
    """Yield the pieces. Raises TemplateSyntaxError."""
    tag: list[str] = []
    begin, is_comment = 0, False
    for line, kind, text in _LEXER.lex(source):
        if kind == "block_begin":
            tag, begin = [text], line
        elif tag:
            tag.append(text)
            if kind == "block_end":
                yield _Piece(
                    begin, "".join(tag), tuple(word for word in tag[1:-1] if not word.isspace()), is_blank=False
                )
                tag = []
        else:
            is_comment = is_comment or kind == "comment_begin"
            yield _Piece(line, text, (), is_blank=is_comment or not text.strip())
            is_comment = is_comment and kind != "comment_end"
    if tag:
        raise TemplateSyntaxError("this tag has no end.", begin)
