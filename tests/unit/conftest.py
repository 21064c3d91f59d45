"""Fixtures of the tests of commands."""

from pathlib import Path

import pytest

from tests.support.command_line import FILE, Run, runner


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command over a store of its own; keyword arguments are settings."""
    monkeypatch.chdir(tmp_path)
    return runner(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "acme.yaml").write_text(FILE)
    return "acme.yaml"
