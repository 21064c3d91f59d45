"""gatehouse theme new: the theme that it writes passes the check, and nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.contract.themes.part_bodies import OUR_BODIES
from tests.support.processes.command_line import Run, refused


@pytest.mark.parametrize("color", ["#0a7d55", "#ffd400", "#000", "#ffffff"])
def test_new_theme_passes_the_check(run: Run, tmp_path: Path, color: str) -> None:
    folder = tmp_path / "my-shop"
    assert run("theme", "new", str(folder), "--color", color).exit_code == 0
    done = run("theme", "check", str(folder), "--pages", "LoginPage,ForgotPage")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "It has 1 text in 1 language of its own." in done.stdout
    assert 'display_name: "My Shop"' in (folder / "theme.yaml").read_text()


def test_new_theme_has_our_parts_if_asked(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    assert run("theme", "new", str(folder), "--parts").exit_code == 0
    macros = folder / "templates" / "macros"
    assert {f"macros/{file.name}": file.read_text() for file in macros.iterdir()} == OUR_BODIES
    done = run("theme", "check", str(folder), "--pages", "LoginPage,SecurityPage")
    assert (done.exit_code, done.stderr) == (0, "")


def test_name_is_written_as_yaml(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    run("theme", "new", str(folder), "--name", 'Ada: "shop" #1 ü')
    assert run("theme", "check", str(folder), "--pages", "ForgotPage").exit_code == 0


def test_full_folder_and_wrong_color_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("kept")
    assert refused(run("theme", "new", str(tmp_path))) == f"{tmp_path} isn’t empty. Name a new folder."
    assert (
        refused(run("theme", "new", str(tmp_path / "b"), "--color", "green"))
        == "Expected a color such as #3b49d9; found 'green'."
    )
    assert not (tmp_path / "theme.yaml").exists()
    assert not (tmp_path / "b").exists()


def test_unused_files_and_texts_are_warnings(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    run("theme", "new", str(folder))
    (folder / "old.svg").write_text("<svg/>")
    with (folder / "texts" / "en.yaml").open("a") as texts:
        texts.write("own.forgotten: Never shown\n")
    done = run("theme", "check", str(folder), "--pages", "ForgotPage")
    assert done.exit_code == 0
    assert "Warning: old.svg isn’t used: no file of the theme names it.\n" in done.stderr
    assert "Warning: the text own.forgotten isn’t used: no template shows it.\n" in done.stderr
    assert "own.tagline" not in done.stderr
