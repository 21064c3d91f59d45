"""The changes of code that `tools.mutations.changes` tries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tools.mutations.changes import ROOT, mutations_of


def test_each_mutation_changes_one_line_and_compiles() -> None:
    path = ROOT / "app" / "identity" / "credentials" / "passwords" / "policy.py"
    source, found = path.read_text(), mutations_of(path)
    assert len(found) > 20
    for item in found:
        changed = item.applied(source)
        compile(changed, item.path, "exec")
        pairs = enumerate(zip(source.splitlines(), changed.splitlines(), strict=True), 1)
        assert [number for number, (before, after) in pairs if before != after] == [item.line], item


RULE = """
def is_even(number):
    return number % 2 == 0
"""
TEST = """
from app.rule import is_even

def test_numbers(subtests):
    for number, expected in ((1, False), (2, True)):
        with subtests.test(str(number)):
            assert is_even(number) is expected
"""
TRIALS = """
import json, pathlib, sys
from dataclasses import asdict
from tools.mutations import changes as mutations

mutations.ROOT = root = pathlib.Path.cwd()
mutations.FOLDER, mutations.CHOSEN = root, root / "chosen.json"
mutations.CHOSEN.write_text(json.dumps([asdict(one) for one in mutations.mutations_of(root / "app" / "rule.py")]))
import pytest
sys.exit(pytest.main(["-p", "tools.mutations.trials", "-p", "no:cacheprovider", "-c", "/dev/null", "test_rule.py"]))
"""


def test_mutation_that_a_subtest_notices_is_killed(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    for name, text in (("app/__init__.py", ""), ("app/rule.py", RULE), ("test_rule.py", TEST)):
        (tmp_path / name).write_text(text)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    ran = subprocess.run(
        [sys.executable, "-c", TRIALS], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert "1 passed" in ran.stdout.decode().splitlines()[-1], ran.stdout.decode() + ran.stderr.decode()
    chosen = json.loads((tmp_path / "chosen.json").read_text())
    assert len(chosen) > 2
    assert [number for number in range(len(chosen)) if not (tmp_path / f"{number}.killed").exists()] == []
