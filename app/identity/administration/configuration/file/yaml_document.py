"""A YAML document with the line of every key, and its problems.

Only maps, lists, texts, numbers, true, false and null are read, from the parser's events. Tags, aliases and repeated keys are
refused, and `no` is a text, not false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml import events

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 20
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?[0-9]+\.[0-9]+([eE][-+]?[0-9]+)?\Z")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class ConfigurationProblem:
    """A problem of the file: its line, its key, and the expected value."""

    file: str
    line: int
    key: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key + ': ' if self.key else ''}{self.sentence}"


class ConfigurationError(Exception):
    """The file cannot be applied, and nothing was."""

    def __init__(self, problems: Sequence[ConfigurationProblem]) -> None:
        self.problems = tuple(sorted(set(problems), key=lambda problem: (problem.file, problem.line, problem.key)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def key_of(path: KeyPath) -> str:
    """Return a path as text, such as `tenants[0].settings.two_factor`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


@dataclass
class YamlDocument:
    """The plain value of a file, and the line of each key."""

    file: str
    value: Any = None
    lines: dict[KeyPath, int] = field(default_factory=dict)
    problems: list[ConfigurationProblem] = field(default_factory=list)

    def line_of(self, path: KeyPath) -> int:
        """Return the line of a key, or of the nearest part around it that is there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def problem_at(self, path: KeyPath, sentence: str) -> ConfigurationProblem:
        """Return a problem at a key."""
        return ConfigurationProblem(self.file, self.line_of(path), key_of(path), sentence)

    def problem(self, path: KeyPath, sentence: str) -> None:
        """Note a problem at a key."""
        self.problems.append(self.problem_at(path, sentence))


def read(text: bytes, file: str) -> YamlDocument:
    """Return the document; raises ConfigurationError where the text is no such YAML."""
    document = YamlDocument(file)
    if len(text) > MAX_BYTES:
        raise _broken(
            document, 1, f"expected at most {MAX_BYTES // 1024 // 1024} MiB; found {len(text) / 1024 / 1024:.1f} MiB"
        )
    try:
        stream = iter(yaml.parse(text.decode("utf-8"), Loader=_LOADER))
        first = next(
            (event for event in stream if not isinstance(event, events.StreamStartEvent | events.DocumentStartEvent)),
            None,
        )
        if first is not None and not isinstance(first, events.StreamEndEvent):
            document.value = _value(document, stream, first, ())
        _expect_end(document, stream)
    except UnicodeDecodeError as problem:
        raise _broken(document, text[: problem.start].count(b"\n") + 1, "expected UTF-8 text") from None
    except yaml.MarkedYAMLError as problem:
        line = problem.problem_mark.line + 1 if problem.problem_mark else 1
        raise _broken(document, line, f"expected valid YAML; {problem.problem}") from None
    except yaml.YAMLError as problem:
        raise _broken(document, 1, f"expected valid YAML; {problem}") from None
    return document


def _broken(document: YamlDocument, line: int, sentence: str) -> ConfigurationError:
    return ConfigurationError([*document.problems, ConfigurationProblem(document.file, line, "", sentence)])


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _expect_end(document: YamlDocument, stream: Iterator[Any]) -> None:
    for event in stream:
        if isinstance(event, events.DocumentStartEvent):
            raise _broken(document, _line(event), "expected one document; found a second one after ---")


def _value(document: YamlDocument, stream: Iterator[Any], event: Any, path: KeyPath) -> Any:
    line = _line(event)
    document.lines.setdefault(path, line)
    if len(path) > MAX_DEPTH:
        raise _broken(document, line, f"expected at most {MAX_DEPTH} levels")
    if isinstance(event, events.AliasEvent) or getattr(event, "anchor", None):
        raise _broken(document, line, "expected no anchors (&) or aliases (*); repeat the values instead")
    if event.tag not in (None, "!", "tag:yaml.org,2002:str"):
        raise _broken(document, line, f"expected no tags; found {event.tag}")
    if isinstance(event, events.ScalarEvent):
        if not _is_storable(event.value):
            raise _broken(document, line, "expected text without NUL characters or lone surrogates")
        return _scalar(event)
    if isinstance(event, events.SequenceStartEvent):
        return _list(document, stream, path)
    return _map(document, stream, path)


def _list(document: YamlDocument, stream: Iterator[Any], path: KeyPath) -> list[Any]:
    items: list[Any] = []
    while not isinstance(event := next(stream), events.SequenceEndEvent):
        items.append(_value(document, stream, event, (*path, len(items))))
    return items


def _map(document: YamlDocument, stream: Iterator[Any], path: KeyPath) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    while not isinstance(event := next(stream), events.MappingEndEvent):
        line = _line(event)
        if not isinstance(event, events.ScalarEvent):
            raise _broken(document, line, "expected a plain key")
        key = str(event.value)
        if key in mapping:
            document.problems.append(ConfigurationProblem(document.file, line, key_of((*path, key)), "is listed twice"))
        document.lines[(*path, key)] = line
        mapping[key] = _value(document, stream, next(stream), (*path, key))
    return mapping


def _is_storable(text: str) -> bool:
    """Return whether every database takes the text."""
    return "\x00" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _scalar(event: Any) -> Any:
    text: str = event.value
    if event.style in ("'", '"', "|", ">") or event.tag == "tag:yaml.org,2002:str":
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.match(text) and len(text) < 19:
        return int(text)
    if _FLOAT.match(text):
        return float(text)
    return text
