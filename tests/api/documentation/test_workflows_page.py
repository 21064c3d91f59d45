"""docs/workflows.md, run from its own text: the first workflow, and what it answers."""

from __future__ import annotations

from pathlib import Path

from tests.support.documentation.quickstart_terminals import paste, with_keys
from tests.support.documentation.quickstarts import prepared


def test_reader_turns_a_new_account_away(tmp_path: Path) -> None:
    with prepared("../workflows", tmp_path) as running:
        steps = paste(with_keys(running), "program")
    assert sum(bool(item.shown) for item in steps) == 4
    for step in steps:
        step.check()
