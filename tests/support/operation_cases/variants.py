"""The tables of a file of operations, one case per operation: every refusal, and every spelling of a request that succeeds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import pytest

from tests.support.operation_cases.cases import Answer
from tests.support.tenants.tenant_server import NewTenantServer

Test = TypeVar("Test", bound=Callable[..., None])
FOR_THE_STORE = {"as stated", "prevent_webhook"}
"""The spellings that PostgreSQL is asked too; the others are the same request, which the store never sees."""
STORED = "stored"
"""The name of the case that runs on PostgreSQL too."""


class VariantLine(Protocol):
    """One refusal: its operation and code as text, and how it is raised."""

    def check(self, make: NewTenantServer) -> None: ...


@dataclass(frozen=True)
class Refusals:
    """The refusals of one operation."""

    name: str
    lines: Sequence[VariantLine]

    def __str__(self) -> str:
        return self.name

    def check(self, make: NewTenantServer, subtests: pytest.Subtests) -> None:
        """Raise each, in a new tenant; what fails is named by operation and code."""
        for line in self.lines:
            with subtests.test(str(line)):
                line.check(make)


@dataclass(frozen=True)
class Variants:
    """The variants of one operation's request."""

    name: str
    answer: Answer
    spellings: Sequence[str]

    def __str__(self) -> str:
        return self.name

    def check(self, make: NewTenantServer, subtests: pytest.Subtests) -> None:
        """Send each, in a new tenant; what fails is named by operation and spelling."""
        for variant in self.spellings:
            with subtests.test(f"{self.answer}, {variant}"):
                self.answer.check(make, variant)


def every_refusal(lines: Sequence[VariantLine], *, stored: Collection[str] = ()) -> Callable[[Test], Test]:
    """Run the test with the `refusals` of each operation; those `stored`, such as "U02 1123", on PostgreSQL too."""
    grouped: dict[str, list[VariantLine]] = {}
    for line in lines:
        operation = str(line).rpartition(" ")[0]
        grouped.setdefault(STORED if str(line) in stored else operation, []).append(line)
    return _table("refusals", [Refusals(name, found) for name, found in grouped.items()])


def every_variant(answers: Sequence[Answer], *, stored: Collection[str] = ()) -> Callable[[Test], Test]:
    """Run the test with the `variants` of each answer; of those `stored`, what is spelt `FOR_THE_STORE` on PostgreSQL too."""
    cases = []
    for answer in answers:
        spellings = list(answer.variants())
        stored_ones = [
            spelling for spelling in spellings if answer.row in stored and FOR_THE_STORE & {*spelling.split(", ")}
        ]
        cases += [Variants(f"{answer} {STORED}", answer, stored_ones)] if stored_ones else []
        cases += [Variants(str(answer), answer, [spelling for spelling in spellings if spelling not in stored_ones])]
    return _table("variants", [case for case in cases if case.spellings])


def _table(parameter: str, cases: Sequence[Refusals | Variants]) -> Callable[[Test], Test]:
    table = pytest.mark.parametrize(parameter, cases, ids=str)
    stored = [str(case) for case in cases if str(case).endswith(STORED)]
    return (lambda test: pytest.mark.both_databases(**{parameter: stored})(table(test))) if stored else table
