"""Tests that tables name: each one must be there, so that no row is shown by a test that was renamed or removed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[2]


@cache
def defined_in(path: Path) -> frozenset[str]:
    """Return the tests that a module defines."""
    return frozenset(re.findall(r"^ *def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE))


def undefined(citations: Iterable[tuple[str, str]]) -> list[str]:
    """Return the citations without a test: pairs of a module below `tests`, and the name of a test there."""
    return [f"{module} {name}" for module, name in citations if name not in defined_in(TESTS / module)]
