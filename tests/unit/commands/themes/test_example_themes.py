"""The example themes pass their own check."""

from __future__ import annotations

import pytest

from app.hub import gallery
from app.kit.package_files import EXAMPLES
from tests.support.processes.command_line import Run

THEMES = sorted(folder.name for folder in (EXAMPLES / "themes").iterdir() if folder.is_dir())


def test_five_themes_are_shipped() -> None:
    assert {"bank", "game", "government", "newspaper", "shop"} <= set(THEMES)


@pytest.mark.parametrize("name", THEMES)
def test_example_theme_has_no_problem(run: Run, name: str) -> None:
    folder = EXAMPLES / "themes" / name
    replaced = {path.relative_to(folder / "templates").as_posix() for path in (folder / "templates").rglob("*.html")}
    pages = {page.__name__ for page in gallery.pages_by_name().values() if page.template in replaced}
    shown = ",".join(sorted({*pages, "LoginPage", "SecurityPage", "ErrorPage"}))
    checked = run("theme", "check", str(folder), "--pages", shown)
    assert checked.exit_code == 0, checked.output
    assert "no problems" in checked.output
