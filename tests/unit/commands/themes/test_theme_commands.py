"""gatehouse theme: finds the keys of texts, and checks a folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.identity.administration.configuration.file import yaml_document
from app.kit.text.languages import LANGUAGES
from app.kit.text.source_texts import text_keys
from app.kit.text.tenant_texts import problems
from tests.support.processes.command_line import Run, refused


def test_key_of_a_text_is_found_by_its_words(run: Run) -> None:
    assert run("theme", "texts", "welcome", "BACK").stdout == 'welcome_back: "Welcome back"\n'
    assert 'welcome_back: "Willkommen zurück"\n' in run("theme", "texts", "welcome back", "--language", "de").stdout
    assert 'welcome_back: "Willkommen zurück"\n' in run("theme", "texts", "zurück", "--language", "de").stdout
    assert run("theme", "texts", "no such words anywhere").stdout == ""
    assert refused(run("theme", "texts", "--language", "fr")) == "There's no language fr. Choose one of: en, de, ar."


@pytest.mark.parametrize("tag", LANGUAGES)
def test_listed_texts_are_a_file_of_a_theme(run: Run, tag: str) -> None:
    listed = yaml_document.read(run("theme", "texts", "--language", tag).stdout.encode(), "texts.yaml").value
    assert listed.keys() == text_keys().current.keys()
    assert [one for key, wording in listed.items() for one in problems({tag: {key: wording}})] == []


def test_problems_of_a_folder_have_files_and_lines(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "hazel"
    (folder / "texts").mkdir(parents=True)
    (folder / "theme.yaml").write_text("color: '#0a7d55'")
    (folder / "texts" / "en.yaml").write_text("continue: Go on\n")
    said = run("theme", "check", str(folder), "--pages", "ForgotPage").stdout
    assert re.match(
        r"hazel: no problems on \d+ pages. It has 1 text in 1 language of its own. The largest page, ", said
    )
    (folder / "texts" / "en.yaml").write_text("continue: Go on\ncontinu: Go\n")
    (folder / "theme.yaml").write_text("color: green")
    assert refused(run("theme", "check", str(folder))) == (
        "Found 2 problems:\n"
        f"{folder}/texts/en.yaml:2: continu: expected a key of a text; did you mean continue?\n"
        f"{folder}/theme.yaml:1: color: expected a color such as #3b49d9; found 'green'"
    )
    assert refused(run("theme", "check", str(tmp_path / "none"))) == f"There's no folder {tmp_path}/none."
