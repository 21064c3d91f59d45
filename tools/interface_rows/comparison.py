"""Compares the tables of the interface's specification, a folder of Markdown, with the operations.

Each line of the result is: method and path → operation → tests → status. The specification is not in this repository.

python -m tools.interface_rows FOLDER         every file that comparison.toml names, and the lines per resource
python -m tools.interface_rows FOLDER user    one file, by its name without .md

Prints Markdown. The exit status is 1 if a row has neither an operation nor a reason in comparison.toml.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from app import hub
from app.contract.auth import Host
from app.contract.catalogue import load_catalogue
from app.contract.resources import BOUND
from app.kit.package_files import HOME as ROOT
from app.settings import Settings
from tools.interface_rows import resource_lines
from tools.interface_rows.tested_addresses import METHODS, Address, CalledAddresses, addresses_called_in, parts

REASONS = Path(__file__).with_suffix(".toml")
EVERY_RESOURCE = "catalogue/interface/test_every_resource.py"
"""Tests every verb of every resource."""
_METHOD = "|".join(METHODS)
_BETWEEN_METHODS = "(?:/| or )"
_PAIR = re.compile(
    rf"\b((?:{_METHOD})(?:{_BETWEEN_METHODS}(?:{_METHOD}))*) (?:\{{\w+\}})?`(?:\{{\w+\}})?(/[^`\s…]*)…?`"
)
_ID = re.compile(r"[A-Z]\d\d")


@dataclass(frozen=True)
class InterfaceRow:
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

    def answers(self, row: InterfaceRow) -> bool:
        return any(method == row.method and parts(path) == parts(row.path) for method, path in self.addresses)


@dataclass(frozen=True)
class Reason:
    """Why rows have no operation: a regular expression for `FILE METHOD PATH`, and a sentence."""

    find: str
    why: str


@dataclass(frozen=True)
class Result:
    """A row and what answers it."""

    row: InterfaceRow
    targets: tuple[Target, ...]
    why: str = ""

    @property
    def tests(self) -> list[str]:
        return sorted({name for target in self.targets for name in target.tests})

    @property
    def status(self) -> str:
        if self.targets:
            return "answers" if self.tests else "no test"
        return self.why or "**missing**"

    def line(self) -> str:
        names = ", ".join(f"`{target.name}`" for target in self.targets)
        more = f" and {len(self.tests) - 3} more" if len(self.tests) > 3 else ""
        tests = ", ".join(test_.removesuffix(".py") for test_ in self.tests[:3]) + more
        return f"| {self.row.id} | {self.row.method} `{self.row.path}` | {names} | {tests} | {self.status} |"


def rows_of(file: str, text: str) -> list[InterfaceRow]:
    """Return the rows of a file's tables, each once; the query of an address is left out."""
    found: dict[tuple[str, str, str], InterfaceRow] = {}
    for line in text.splitlines():
        if not line.startswith("|"):
            continue
        first = line.split("|")[1].strip()
        row_id = first if _ID.fullmatch(first) else ""
        for methods, path in _PAIR.findall(line):
            for method in re.split(_BETWEEN_METHODS, methods):
                plain = path.partition("?")[0]
                key = row_id, method, "/".join(parts(plain))
                found.setdefault(key, InterfaceRow(file, row_id, method, plain))
    return list(found.values())


def compare(rows: Sequence[InterfaceRow], targets: Sequence[Target], reasons: Sequence[Reason]) -> list[Result]:
    """Return what answers each row; among several operations at its address, those of its id."""
    results = []
    for row in rows:
        found = [target for target in targets if target.answers(row)]
        own = [target for target in found if row.id and target.row == row.id]
        why = next((reason.why for reason in reasons if re.search(reason.find, row.label)), "")
        results.append(Result(row, tuple(own or found), "" if found else why))
    return results


def with_tests(
    targets: Sequence[Target], requested: Sequence[CalledAddresses], is_generic: frozenset[str]
) -> list[Target]:
    """Return the targets with the test modules that ask them; `is_generic`: names that EVERY_RESOURCE tests."""
    known = [address for target in targets for address in target.addresses]
    by_address: dict[Address, set[str]] = {}
    by_row: dict[str, set[str]] = {}
    for module in (item for item in requested if Path(item.module).name.startswith("test_")):
        for found in (address for call in module.calls(known) for address in call):
            by_address.setdefault(found, set()).add(module.module)
        for row in module.rows:
            by_row.setdefault(row, set()).add(module.module)
    return [
        Target(target.name, target.addresses, target.row, tuple(sorted({
            *(name for address in target.addresses for name in by_address.get(address, ())),
            *by_row.get(target.row, ()), *([EVERY_RESOURCE] if target.name in is_generic else []),
        })))
        for target in targets
    ]  # fmt: skip


def operation_targets() -> list[Target]:
    """Return the operations that callers outside reach."""
    public = [operation for operation in load_catalogue() if operation.host is not Host.INSIDE]
    return [Target(operation.name, tuple(operation.addresses()), operation.documentation.row) for operation in public]


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
    answered = [result for result in results if result.targets]
    lines = [
        f"## {file}",
        "",
        "| id | method and path | operation | tests | status |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [result.line() for result in results]
    lines += ["", f"{file}: {len(answered)} of {len(results)} rows have an operation or a page."]
    reasons = Counter(result.status for result in results if result.status != "answers")
    lines += [f"- {count} rows: {why}" for why, count in reasons.most_common()]
    return "\n".join([*lines, ""])


def _configuration() -> tuple[list[str], list[Reason]]:
    found = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    return found["files"], [Reason(**item) for item in found["reason"]]


def main(arguments: Sequence[str]) -> int:
    """Print the tables; the exit status is 1 if a row has neither an operation nor a reason."""
    if len(arguments) not in (1, 2):
        print(__doc__)
        return 2
    files, reasons = _configuration()
    generic = frozenset(item.operation.name for item in BOUND if item.draft.verb_options)
    requested = addresses_called_in(ROOT / "tests")
    targets = with_tests([*operation_targets(), *page_targets()], requested, generic)
    every: list[Result] = []
    for file in arguments[1:] or files:
        text = Path(arguments[0], f"{file}.md").read_text(encoding="utf-8")
        results = compare(rows_of(file, text), targets, reasons)
        print(report(file, results))
        every += results
    if len(arguments) == 1:
        unused = [reason.find for reason in reasons if reason.why not in {result.why for result in every}]
        print("".join(f"comparison.toml: no row needs {find!r} any longer\n" for find in unused))
        print(resource_lines.report(requested))
    return 1 if any(item.status == "**missing**" for item in every) else 0
