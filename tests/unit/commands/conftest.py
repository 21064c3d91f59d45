"""Fixtures of the tests of commands."""

import shutil
from pathlib import Path

import pytest

from tests.support.processes.command_line import FILE, Run, runner


@pytest.fixture
def run_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in an empty folder; keyword arguments are settings."""
    monkeypatch.chdir(tmp_path)
    return runner(tmp_path)


@pytest.fixture
def run(run_anew: Run, tmp_path: Path, migrated_file: Path) -> Run:
    """Runs the command over a migrated store of its own: to migrate takes longer than what most commands do."""
    shutil.copy(migrated_file, tmp_path / "gatehouse.db")
    return run_anew


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "acme.yaml").write_text(FILE)
    return "acme.yaml"
