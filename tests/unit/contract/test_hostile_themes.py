"""Each hostile theme is refused with file, line and a sentence, or accepted; its check needs little memory."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import pytest

from app.identity.administration.configuration.file.theme import read_folder
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from tests.support.hostile_themes.table import HOSTILE, MAX_MEMORY

_COMPLETE = re.compile(r"[^:]+:[1-9]\d*: .*(?:\bexpected [^ ].*|is(?:n't| listed twice).*)", re.DOTALL)
"""File, line, and what is expected there; an unknown key, or one that is there twice, says that alone."""


def problems(folder: Path) -> list[str]:
    """Return the problems of a theme folder, as `apply` and `theme check` print them."""
    try:
        read_folder.folder_of(folder)
    except ConfigurationError as refused:
        return [
            str(problem).replace(f"{folder}/", "").replace(f"{folder.parent}/", "../") for problem in refused.problems
        ]
    return []


@pytest.fixture(scope="module", autouse=True)
def loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Load what the first check loads once for all."""
    folder = tmp_path_factory.mktemp("loaded")
    (folder / "theme.yaml").write_text("colour: red\nsentence: {xx: x}")
    assert problems(folder)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_theme_is_refused_or_harmless(name: str, tmp_path: Path) -> None:
    hostile = HOSTILE[name]
    hostile.write(tmp_path / "hostile")
    tracemalloc.start()
    try:
        found = problems(tmp_path / "hostile")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    for problem in found:
        assert _COMPLETE.fullmatch(problem), problem
    if hostile.problem:
        assert any(problem.startswith(hostile.problem) for problem in found), found[:3]
    else:
        assert found == []
    assert peak < MAX_MEMORY
