"""gatehouse theme diff names what of ours changed under the templates of a theme."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.commands.theme.changes import OUR_MACROS, ours_now
from app.contract.tenants.branding import Brand
from app.contract.themes import theme_contract
from app.contract.themes.page_templates import CONTRACT_FILE
from app.contract.themes.part_templates import PARTS
from tests.support.processes.command_line import Run, refused

LOGIN = "pages/sign_in/login.html"
REPLACED = {
    LOGIN: "{% block heading %}{{ super() }}{% endblock %}",
    "layouts/split.html": "{{ content() }}{{ footer() }}",
    "macros/field.html": "{{ label() }}{{ control() }}{{ note() }}{{ beside() }}",
}


def test_changes_of_ours_are_named(tmp_path: Path, run: Run) -> None:
    theme = tmp_path / "hazel"
    for name, source in REPLACED.items():
        (theme / "templates" / name).parent.mkdir(parents=True, exist_ok=True)
        (theme / "templates" / name).write_text(source)
    (theme / "theme.yaml").write_text("contract: 1")
    assert "Write it with --accept" in refused(run("theme", "diff", str(theme)))
    assert run("theme", "diff", str(theme), "--accept").exit_code == 0
    assert run("theme", "diff", str(theme)).output == "hazel: nothing of ours changed under its templates.\n"
    then = json.loads((theme / "ours.json").read_text())
    assert then == json.loads(json.dumps(ours_now(Brand(templates=REPLACED))))
    del then[LOGIN]["blocks"]["more"]
    then[LOGIN]["source"]["heading"] = "<h1>Old</h1>\n"
    then[LOGIN]["values"]["gone"] = {"kind": "flag", "meaning": ""}
    then["macros/field.html"]["source"]["field"] = "<p>Old</p>"
    (theme / "ours.json").write_text(json.dumps(then))
    said = run("theme", "diff", str(theme)).output
    assert f"{LOGIN}: new block more\n" in said
    assert f"{LOGIN}: value gone is gone\n" in said
    assert f"{LOGIN}: block heading changed\n" in said
    assert "-<h1>Old</h1>" in said
    assert "macros/field.html: macro field changed\n" in said


def test_other_samples_are_no_change(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    theme, next_one = tmp_path / "hazel", tmp_path / "next.json"
    (theme / "templates" / "pages" / "sign_in").mkdir(parents=True)
    (theme / "templates" / LOGIN).write_text("{% block heading %}{{ super() }}{{ initials }}{% endblock %}")
    (theme / "theme.yaml").write_text("contract: 1")
    assert run("theme", "diff", str(theme), "--accept").exit_code == 0
    contract = json.loads(CONTRACT_FILE.read_text())
    assert contract["samples"][LOGIN].pop("initials")
    contract["samples"][LOGIN]["help"] = ["/elsewhere"]
    (tmp_path / "contract.json").write_text(json.dumps(contract))
    monkeypatch.setattr(theme_contract, "CONTRACT_FILE", tmp_path / "contract.json")
    assert run("theme", "diff", str(theme)).output == "hazel: nothing of ours changed under its templates.\n"
    next_one.write_text(run("theme", "contract").output)
    assert json.loads(next_one.read_text())["samples"][LOGIN]["help"] == ["/elsewhere"]
    monkeypatch.undo()
    checked = run("theme", "check", str(theme), "--against", str(next_one), "--pages", "ForgotPage")
    assert checked.exit_code == 0, checked.output


def test_every_part_has_its_macro() -> None:
    found = ours_now(Brand(templates=dict.fromkeys(PARTS, "")))
    assert OUR_MACROS.keys() == PARTS.keys() == found.keys()
    for name, ours in found.items():
        (source,) = ours["source"].values()
        assert "own_" in source, f"{name}: it calls the template of the theme"
