"""Counts the lines of each resource: its declaration, its rules and its tests.

A module that several resources share is divided: contract and rules by their operations, a test module by the calls that ask them.
Modules that test every resource are not counted.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.contract.catalogue import load_catalogue
from app.contract.resources import BOUND, RESOURCES
from app.identity.administration.resource_operations.resource_registry import rules_of
from app.kit.operations.operation import AnyOperation, Operation
from app.kit.package_files import HOME as ROOT
from app.kit.resources.resource import Resource
from tools.interface_rows.tested_addresses import Address, CalledAddresses, parts

BEFORE = "60-90"
"""Lines per operation before resources were declared."""
_GENERIC = ("catalogue/", "conformance/", "browser/", "support/", "unit/", "load/")
"""Test modules of no resource in particular."""


@dataclass(frozen=True)
class Lines:
    """The lines of one resource."""

    name: str
    operations: int
    contract: float = 0
    rules: float = 0
    tests: float = 0

    def line(self) -> str:
        complete = self.contract + self.rules + self.tests
        numbers = [self.operations, self.contract, self.rules, self.tests, complete / max(self.operations, 1)]
        return f"| {self.name} | {' | '.join(f'{number:.0f}' for number in numbers)} |"


def report(requested: Sequence[CalledAddresses]) -> str:
    """Return the table; `asked`: what each test module asks."""
    every = lines_per_resource(requested)
    complete = Lines(
        "all", *(sum(getattr(item, name) for item in every) for name in ("operations", "contract", "rules", "tests"))
    )
    head = ["| resource | operations | contract | rules | tests | per operation |", "| --- |" + " --- |" * 5]
    title = f"## Lines per resource (contract, rules, tests) beside the {BEFORE} per operation of before"
    return "\n".join([title, "", *head, *(element.line() for element in [*every, complete]), ""])


def lines_per_resource(requested: Sequence[CalledAddresses]) -> list[Lines]:
    """Return the lines of every declared resource."""
    load_catalogue()
    owned = {resource.kind: _operations(resource) for resource in RESOURCES}
    sizes = {kind: len(operations) for kind, operations in owned.items()}
    contract = _divided({resource.kind: [inspect.getsourcefile(resource.model) or ""] for resource in RESOURCES}, sizes)
    rules = _divided({resource.kind: _rule_modules(resource) for resource in RESOURCES}, sizes)
    tests = _test_lines(owned, requested)
    return [Lines(kind, sizes[kind], contract[kind], rules[kind], tests[kind]) for kind in sizes]


def _operations(resource: Resource) -> list[AnyOperation]:
    """Return the operations of a resource, with those declared by hand below its path."""
    bound = [item.operation for item in BOUND if item.draft.resource is resource]
    by_hand = vars(sys.modules[resource.model.__module__]).values()
    below = tuple(f"{path}/" for path in resource.paths)
    named = [var for var in by_hand if isinstance(var, Operation) and var.path.startswith(below)]
    return list({var.name: var for var in [*bound, *named]}.values())


def _rule_modules(resource: Resource) -> list[str]:
    rules = rules_of(resource)
    used: list[Callable[..., Any]] = [hook for hook in vars(rules).values() if inspect.isfunction(hook)]
    used += [*rules.actions.values(), *rules.actions_before_lock.values()]
    used += [type(rules.store)] if rules.store is not None else []
    return sorted({inspect.getsourcefile(var) or "" for var in used})


def _divided(files: Mapping[str, Iterable[str]], sizes: Mapping[str, int]) -> dict[str, float]:
    """Return the lines of each resource's files, each divided among the resources that use it by their operations."""
    users = Counter[str]()
    for kind, paths in files.items():
        users.update(dict.fromkeys(paths, sizes[kind]))
    return {
        kind: sum(_length(Path(path)) * sizes[kind] / users[path] for path in paths) for kind, paths in files.items()
    }


def _test_lines(owned: Mapping[str, Sequence[AnyOperation]], requested: Sequence[CalledAddresses]) -> dict[str, float]:
    """Return the lines of the test modules, each divided by the calls that ask a resource's operations, and the paths it names."""
    found = dict.fromkeys(owned, 0.0)
    known = [address for operation in load_catalogue() for address in operation.addresses()]
    owner: dict[Address, str] = {
        address: kind
        for kind, operations in owned.items()
        for operation in operations
        for address in operation.addresses()
    }
    owner_of_path = {parts(path): kind for (_, path), kind in owner.items()}
    for module in requested:
        if module.module.startswith(_GENERIC):
            continue
        shares = Counter(owner.get(call[0], "") for call in module.calls(known) if call)
        shares.update(owner_of_path[parts(base)] for base in module.bases if parts(base) in owner_of_path)
        for kind in shares.keys() & found.keys():
            found[kind] += _length(ROOT / "tests" / module.module) * shares[kind] / shares.total()
    return found


def _length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
