"""Compares the tables of the interface with the operations: method and path → operation → tests → status.

python -m tools.interface_rows FOLDER         every file that interface_rows.toml names, and the lines per resource
python -m tools.interface_rows FOLDER user    one file, by its name without .md

Prints Markdown. The exit status is 1 if a row has neither an operation nor a reason in interface_rows.toml.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from app import hub
from app.contract.auth import Host
from app.contract.operations import load_catalogue
from app.contract.resources import BOUND
from app.kit.package_files import HOME as ROOT
from app.settings import Settings
from tools import resource_lines
from tools.tested_addresses import METHODS, Address, Asked, asked_by, parts

REASONS = Path(__file__).with_suffix(".toml")
EVERY_RESOURCE = "catalogue/test_every_resource.py"
"""Tests every verb of every resource."""
_METHOD = "|".join(METHODS)
_PAIR = re.compile(rf"\b((?:{_METHOD})(?:/(?:{_METHOD}))*) (?:\{{\w+\}})?`(?:\{{\w+\}})?(/[^`\s…]*)…?`")
_ID = re.compile(r"[A-Z]\d\d")


@dataclass(frozen=True)
class Row:
    """One method and path of a table."""

    file: str
    id: str
    """For example U12; empty in tables without ids."""
    method: str
    path: str

    @property
    def label(self) -> str:
        return f"{self.file} {self.method} {self.path}"


@dataclass(frozen=True)
class Target:
    """What answers at an address: an operation, or a page of the hub."""

    name: str
    addresses: tuple[Address, ...]
    row: str = ""
    tests: tuple[str, ...] = ()

    def answers(self, row: Row) -> bool:
        return any(method == row.method and parts(path) == parts(row.path) for method, path in self.addresses)


@dataclass(frozen=True)
class Reason:
    """Why rows have no operation: a regular expression for `FILE METHOD PATH`, and a sentence."""

    find: str
    why: str


@dataclass(frozen=True)
class Result:
    """A row and what answers it."""

    row: Row
    targets: tuple[Target, ...]
    why: str = ""

    @property
    def tests(self) -> list[str]:
        return sorted({name for one in self.targets for name in one.tests})

    @property
    def status(self) -> str:
        if self.targets:
            return "answers" if self.tests else "no test"
        return self.why or "**missing**"

    def line(self) -> str:
        names = ", ".join(f"`{one.name}`" for one in self.targets)
        more = f" and {len(self.tests) - 3} more" if len(self.tests) > 3 else ""
        tests = ", ".join(one.removesuffix(".py") for one in self.tests[:3]) + more
        return f"| {self.row.id} | {self.row.method} `{self.row.path}` | {names} | {tests} | {self.status} |"


def rows_of(file: str, text: str) -> list[Row]:
    """Return the rows of a file's tables, each once; the query of an address is left out."""
    found: dict[tuple[str, str, str], Row] = {}
    for line in text.splitlines():
        if not line.startswith("|"):
            continue
        first = line.split("|")[1].strip()
        row_id = first if _ID.fullmatch(first) else ""
        for methods, path in _PAIR.findall(line):
            for method in methods.split("/"):
                plain = path.partition("?")[0]
                key = row_id, method, "/".join(parts(plain))
                found.setdefault(key, Row(file, row_id, method, plain))
    return list(found.values())


def compare(rows: Sequence[Row], targets: Sequence[Target], reasons: Sequence[Reason]) -> list[Result]:
    """Return what answers each row; among several operations at its address, those of its id."""
    results = []
    for row in rows:
        found = [one for one in targets if one.answers(row)]
        own = [one for one in found if row.id and one.row == row.id]
        why = next((one.why for one in reasons if re.search(one.find, row.label)), "")
        results.append(Result(row, tuple(own or found), "" if found else why))
    return results


def with_tests(targets: Sequence[Target], asked: Sequence[Asked], is_generic: frozenset[str]) -> list[Target]:
    """Return the targets with the test modules that ask them; `is_generic`: names that EVERY_RESOURCE tests."""
    known = [address for one in targets for address in one.addresses]
    by_address: dict[Address, set[str]] = {}
    by_row: dict[str, set[str]] = {}
    for module in (one for one in asked if Path(one.module).name.startswith("test_")):
        for found in (address for call in module.calls(known) for address in call):
            by_address.setdefault(found, set()).add(module.module)
        for row in module.rows:
            by_row.setdefault(row, set()).add(module.module)
    return [
        Target(one.name, one.addresses, one.row, tuple(sorted({
            *(name for address in one.addresses for name in by_address.get(address, ())),
            *by_row.get(one.row, ()), *([EVERY_RESOURCE] if one.name in is_generic else []),
        })))
        for one in targets
    ]  # fmt: skip


def operation_targets() -> list[Target]:
    """Return the operations that callers outside reach."""
    public = [one for one in load_catalogue() if one.host is not Host.INSIDE]
    return [Target(one.name, tuple(one.addresses()), one.documentation.row) for one in public]


def page_targets() -> list[Target]:
    """Return the pages of the hub, with an address for each value of a parameter `<any(a,b):name>`."""
    found = []
    for rule in hub.create_app(Settings(secrets=(b"the secret of no installation, 32",))).url_map.iter_rules():
        methods = sorted((rule.methods or set()) & set(METHODS))
        found.append(Target(rule.endpoint, tuple(product(methods, _written_out(rule.rule)))))
    return found


def _written_out(rule: str) -> Iterator[str]:
    values = re.search(r"<any\(([\w,]+)\):\w+>", rule)
    for value in values[1].split(",") if values else [""]:
        yield re.sub(r"<[^>]+>", "{}", rule.replace(values[0], value) if values else rule)


def report(file: str, results: Sequence[Result]) -> str:
    """Return a file's table, its totals and the rows without an operation by reason."""
    answered = [one for one in results if one.targets]
    lines = [
        f"## {file}",
        "",
        "| id | method and path | operation | tests | status |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [one.line() for one in results]
    lines += ["", f"{file}: {len(answered)} of {len(results)} rows have an operation or a page."]
    reasons = Counter(one.status for one in results if one.status != "answers")
    lines += [f"- {count} rows: {why}" for why, count in reasons.most_common()]
    return "\n".join([*lines, ""])


def _configuration() -> tuple[list[str], list[Reason]]:
    found = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    return found["files"], [Reason(**one) for one in found["reason"]]


def main(arguments: Sequence[str]) -> int:
    """Print the tables; the exit status is 1 if a row has neither an operation nor a reason."""
    if len(arguments) not in (1, 2):
        print(__doc__)
        return 2
    files, reasons = _configuration()
    generic = frozenset(one.operation.name for one in BOUND if one.draft.does)
    asked = asked_by(ROOT / "tests")
    targets = with_tests([*operation_targets(), *page_targets()], asked, generic)
    every: list[Result] = []
    for file in arguments[1:] or files:
        text = Path(arguments[0], f"{file}.md").read_text(encoding="utf-8")
        results = compare(rows_of(file, text), targets, reasons)
        print(report(file, results))
        every += results
    if len(arguments) == 1:
        unused = [one.find for one in reasons if one.why not in {result.why for result in every}]
        print("".join(f"interface_rows.toml: no row needs {find!r} any longer\n" for find in unused))
        print(resource_lines.report(asked))
    return 1 if any(one.status == "**missing**" for one in every) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
