"""Write docs/specifications.md: which file checks each section of a specification and which test shows it.

Usage: `python -m tools.specifications` writes the table, `python -m tools.specifications check` lists its holes instead.

A file of `app/` checks a section if it cites it, as in `(RFC 6749 section 4.1.3)`; a test that cites a section shows it.
The files in `sections/` list the sections that bind an authorization server or OpenID provider, and name files and tests that do
so without a citation.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from app.kit.text.typography import typographic

ROOT = Path(__file__).resolve().parent.parent
SECTIONS = Path(__file__).with_name("sections")
TARGET = ROOT / "docs" / "specifications.md"
_NUMBER = r"(?:[0-9]+|[A-Z](?![A-Za-z]))(?:\.[0-9]+)*"
_NUMBERS = rf"{_NUMBER}(?:(?:,| and|, and) {_NUMBER}(?![\w-]))*"
INTRODUCTION = """# Specifications

Every section that applies to an authorization server or OpenID provider, with the code that implements it and the tests that check it.

<!-- Written by `python -m tools.specifications`. -->
"""


@dataclass(frozen=True)
class Section:
    """One section of a specification; `unserved` says why it does not apply."""

    number: str
    title: str
    unserved: str
    checks: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def holes(self) -> list[str]:
        """The missing parts: `check`, `test`."""
        if self.unserved:
            return []
        return [name for name, found in (("check", self.checks), ("test", self.tests)) if not found]


@dataclass
class Citations:
    """Where each section of one specification is cited."""

    checks: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    tests: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


@cache
def read() -> dict[str, list[Section]]:
    """Return the sections of each specification, by its name and title.

    Raises:
        ValueError: the list lacks a section that is cited, or names a file or test that does not exist.
    """
    found = {}
    for name, entry in _listed().items():
        cited = _citations(name, entry.get("short"))
        unknown = {number for number in cited.checks.keys() | cited.tests.keys() if not _is_listed(number, entry)}
        if unknown:
            raise ValueError(f"The list has no section {', '.join(sorted(unknown))} of {name}.")
        sections = [_section(number, what, cited) for number, what in entry["sections"].items()]
        found[f"{name}: {entry['title']}"] = sections
    return found


def holes() -> list[str]:
    """Return one line for each section without a check or a test."""
    return [
        f"{name.partition(':')[0]} section {section.number} ({section.title}): no {' and no '.join(section.holes)}"
        for name, sections in read().items()
        for section in sections
        if section.holes
    ]


def document() -> str:
    """Return the table as Markdown."""
    lines = [INTRODUCTION]
    for name, sections in read().items():
        lines += [f"## {name}\n", "| section | subject | checked in | tested in |", "|---|---|---|---|"]
        lines += [
            f"| {section.number} | {section.title} | {_checks(section)} | {links_to_tests(section.tests)} |"
            for section in sections
        ]
        lines.append("")
    return typographic("\n".join(lines))


def _is_listed(number: str, entry: Mapping[str, Any]) -> bool:
    """Return whether the list has the section or a part of it."""
    return any(f"{item}.".startswith(f"{number}.") for item in entry["sections"])


def _listed() -> dict[str, Any]:
    files = [tomllib.loads(path.read_text())["specifications"] for path in sorted(SECTIONS.glob("*.toml"))]
    return {name: entry for specifications in files for name, entry in specifications.items()}


def _section(number: str, what: str | Mapping[str, Any], cited: Citations) -> Section:
    entry = {"title": what} if isinstance(what, str) else what
    checks = cited.checks[number] | {_file(name) for name in entry.get("checks", ())}
    tests = cited.tests[number].union(*map(tests_named, entry.get("tests", ())))
    return Section(number, entry["title"], entry.get("unserved", ""), tuple(sorted(checks)), tuple(sorted(tests)))


def _file(name: str) -> str:
    """Return the path of a file of `app/` below the OAuth package or `app/` itself."""
    for folder in ("identity/protocols/oauth/", ""):
        if (ROOT / "app" / folder / name).exists():
            return folder + name
    raise ValueError(f"The list names the file {name}, which does not exist.")


def tests_named(name: str) -> set[str]:
    """Return the tests of that name, as path and function; raises ValueError if there is none."""
    found = {f"{path}::{name}" for path in _naming()[name] if name in _parts(path)}
    if not found:
        raise ValueError(f"The list names the test {name}, which does not exist.")
    return found


@cache
def _naming() -> dict[str, list[str]]:
    """Return the files of `tests/` in which a function of that name may be."""
    found = defaultdict(list)
    for path, text in _sources("tests"):
        for name in re.findall(r"\bdef (test_\w+)\(", text):
            found[name].append(path)
    return found


def _citations(name: str, short: str | None) -> Citations:
    names = "|".join(re.escape(item) for item in (name, short) if item)
    pattern = re.compile(rf"(?:{names})(?: 1\.0| 2\.0)?,? sections? ({_NUMBERS})")
    cited = Citations()
    for path, text in _citing("app"):
        for number in _numbers(pattern, text):
            cited.checks[number].add(path)
    for path, _ in _citing("tests"):
        for function, part in _parts(path).items():
            for number in _numbers(pattern, part):
                cited.tests[number].add(f"{path}::{function}" if function else path)
    return cited


def _numbers(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for numbers in pattern.findall(text):
        yield from re.findall(_NUMBER, numbers)


@cache
def _sources(folder: str) -> list[tuple[str, str]]:
    """Return path and text of each Python file; texts of `app` have their lines joined."""
    top = ROOT / folder
    texts = [(str(path.relative_to(top)), path.read_text()) for path in sorted(top.rglob("*.py"))]
    return [(path, _joined(text)) for path, text in texts] if folder == "app" else texts


@cache
def _citing(folder: str) -> list[tuple[str, str]]:
    """Return the sources that may cite a section: parsing the others takes most of the time."""
    return [(path, text) for path, text in _sources(folder) if re.search(r"\bsections?\b", text)]


@cache
def _parts(path: str) -> dict[str, str]:
    """Return the tests of a file of `tests/` with their sources, and its docstring under an empty name; lines are joined."""
    text = (ROOT / "tests" / path).read_text()
    lines, tree = text.split("\n"), ast.parse(text)
    tests = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    sources = {node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in tests}
    return {name: _joined(source) for name, source in {**sources, "": ast.get_docstring(tree) or ""}.items()}


def _joined(text: str) -> str:
    return re.sub(r"\s*\n\s*(?:# )?", " ", text)


def _checks(section: Section) -> str:
    return section.unserved or _links(section.checks, "app")


def links_to_tests(tests: tuple[str, ...]) -> str:
    """Return links to tests, from a page in `docs/`."""
    return _links(tests, "tests")


def _links(paths: tuple[str, ...], folder: str) -> str:
    return "<br>".join(f"[{_label(path)}](../{folder}/{path.partition('::')[0]})" for path in paths)


def _label(path: str) -> str:
    module, _, function = path.partition("::")
    return function or module.removeprefix("identity/protocols/oauth/")


def main() -> None:
    if sys.argv[1:] == ["check"]:
        found = holes()
        print("\n".join(found) or "Every section has a check and a test.")
        sys.exit(bool(found))
    TARGET.write_text(document())
    print(f"{TARGET.relative_to(ROOT)} is written.")


if __name__ == "__main__":
    main()
