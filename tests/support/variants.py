"""Every spelling of the requests of a table."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

import pytest

from tests.support.rows import Answer

Test = TypeVar("Test", bound=Callable[..., None])
FOR_THE_STORE = {"as stated", "prevent_webhook"}
"""The spellings that PostgreSQL is asked too; the others are the same request, which the store never sees."""


def every_variant(answers: list[Answer], *, stored: Collection[str] = ()) -> Callable[[Test], Test]:
    """Run the test with each `answer` in each `variant` of its request; those `stored` on PostgreSQL too, spelt `FOR_THE_STORE`."""
    cases = [(one, variant) for one in answers for variant in one.variants()]
    table = pytest.mark.parametrize(("answer", "variant"), cases, ids=str)
    if not stored:
        return table
    stored_variants = {variant for _, variant in cases if FOR_THE_STORE & {*variant.split(", ")}}
    return lambda test: pytest.mark.both_databases(answer=stored, variant=stored_variants)(table(test))
