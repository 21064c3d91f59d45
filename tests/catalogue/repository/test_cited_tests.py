"""Every test that a text of the tests cites exists: such texts say which test shows a row or a reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.operations.cited_tests import TESTS, defined_in

EXAMPLES = TESTS / "unit" / "tools"
"""Tests of tools, whose examples name tests that nobody wrote."""
_NAME = re.compile(r"\btest_[a-z0-9_]+")
_CITATION = re.compile(r"[\"'(/ ]test_")


def citations(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if _CITATION.search(text) else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((f"{path.relative_to(TESTS)}:{node.lineno}", name) for name in _NAME.findall(node.value))


def test_every_cited_test_exists() -> None:
    modules = [path for path in TESTS.rglob("*.py") if EXAMPLES not in path.parents]
    known = {path.stem for path in modules}.union(*(defined_in(path) for path in modules))
    cited = [citation for path in modules for citation in citations(path)]
    assert len(cited) > 100
    assert [f"{place} {name}" for place, name in cited if name not in known] == []
