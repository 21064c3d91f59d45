"""gatehouse theme push, pull, versions, publish and roll-back."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.contract.tenants.branding import Brand
from app.identity.administration.configuration.file.theme import read_folder, write_folder
from app.kit.design.theme_file_names import digest_of
from tests.support.processes.command_line import Run, refused
from tests.support.theme_files import FONT, svg

FILE = """
tenants:
  - name: acme
    theme: acme
    settings: {theme_scripts: {origins: ["https://analytics.example"]}}
"""
SVG = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnLz4="
CONTENTS = {"img/tile.svg": svg("<path d='M0 0'/>"), "fonts/inter.woff2": FONT}
EVERY_KEY: dict[str, Any] = {
    "display_name": "Häzel: the “best”",
    "color": "#0a7d55",
    "contract": 1,
    "logo": SVG,
    "logo_dark": "data:image/png;base64,cG5n",
    "favicon": SVG,
    "scene": "picture",
    "drawing": "tiles",
    "picture": "/theme/hills.jpg",
    "background": "#fbfaf5",
    "background_dark": "#12131a",
    "color_scheme": "dark",
    "colors": {"light": {"link": "#0a4f8f"}, "dark": {"raised": "#17191d", "on-brand": "#ffffff"}},
    "font": "Inter, Arial, sans-serif",
    "font_file": "/theme/inter.woff2",
    "sentence": {"en": "Good to see you.", "de": "Schön: # kein Kommentar"},
    "signature": "no",
    "radius_px": 4,
    "button_shape": "pill",
    "links": {"privacy": "https://hazel.example/privacy", "help": "https://hazel.example/help?a=1&b=2"},
    "texts": {"en": {"continue": "yes", "own.hello": "one: 'two' # three"}, "ar": {"continue": "تابع"}},
    "css": ".own-band { color: #123456 }\n",
    "templates": {"layouts/split.html": "<div>{{ content() }}</div>\n{{ languages() }}\n"},
    "files": {name: digest_of(content) for name, content in CONTENTS.items()},
    "scripts": {"js": "https://analytics.example/a.js"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "acme", "Acme")


def written(folder: Path, name: str) -> Path:
    write_folder.write(folder, Brand(display_name=name))
    return folder


@pytest.fixture
def acme(run: Run, folder: Path) -> Run:
    (folder.parent / "acme.yaml").write_text(FILE)
    assert run("apply", "acme.yaml").exit_code == 0
    return run


def listed(run: Run, *options: str) -> list[tuple[int, bool]]:
    lines = run("theme", "versions", "acme", "--json", *options).stdout.splitlines()
    return [(row["version"], row["is_published"]) for row in map(json.loads, lines)]


def test_every_key_returns_from_the_folder(tmp_path: Path) -> None:
    assert EVERY_KEY.keys() == Brand.model_fields.keys()
    brand = Brand.model_validate(EVERY_KEY)
    write_folder.write(tmp_path / "hazel", brand, CONTENTS)
    assert read_folder.folder_of(tmp_path / "hazel").brand == brand
    assert (tmp_path / "hazel" / "logo.svg").read_text().startswith("<svg")
    assert (tmp_path / "hazel" / "logo-dark.png").read_bytes() == b"png"


@pytest.mark.parametrize("key", EVERY_KEY)
def test_key_returns_alone(tmp_path: Path, key: str) -> None:
    needed = {"picture": {"scene": "picture"}, "scene": {"picture": "/theme/a.jpg"}}
    brand = Brand.model_validate({key: EVERY_KEY[key], **needed.get(key, {})})
    write_folder.write(tmp_path / "hazel", brand, CONTENTS if key == "files" else {})
    assert read_folder.folder_of(tmp_path / "hazel").brand == brand


def test_default_that_a_theme_sets_returns(tmp_path: Path) -> None:
    write_folder.write(tmp_path / "hazel", Brand(scene="dusk"))
    assert read_folder.folder_of(tmp_path / "hazel").brand.model_fields_set == {"scene"}


@pytest.mark.parametrize("logo", ["data:image/svg+xml,%3Csvg/%3E", "data:image/gif;base64,R0lG", "/theme/logo.svg"])
def test_logo_that_no_file_can_be_stays(tmp_path: Path, logo: str) -> None:
    write_folder.write(tmp_path / "hazel", Brand(logo=logo))
    assert read_folder.folder_of(tmp_path / "hazel").brand.logo == logo


def test_pulled_folder_is_the_pushed_one(acme: Run, tmp_path: Path) -> None:
    every = {key: value for key, value in EVERY_KEY.items() if key not in ("scene", "picture")}
    write_folder.write(tmp_path / "hazel", Brand.model_validate(every), CONTENTS)
    assert "Published version 2 of acme." in acme("theme", "push", "hazel", "acme", "--publish").stdout
    assert "Wrote version 2 of acme" in acme("theme", "pull", "acme", "copy").stdout
    names = {path.relative_to(tmp_path / "hazel") for path in (tmp_path / "hazel").rglob("*") if path.is_file()}
    assert {path.relative_to(tmp_path / "copy") for path in (tmp_path / "copy").rglob("*") if path.is_file()} == names
    for name in names:
        assert (tmp_path / "copy" / name).read_bytes() == (tmp_path / "hazel" / name).read_bytes()
    assert acme("theme", "push", "copy", "acme").stdout == "acme has this look already: version 2.\n"


def test_pull_names_the_files_that_are_stored_no_more(acme: Run, tmp_path: Path) -> None:
    brand = Brand(display_name="Hazel", files={name: digest_of(content) for name, content in CONTENTS.items()})
    write_folder.write(tmp_path / "hazel", brand, CONTENTS)
    acme("theme", "push", "hazel", "acme", "--publish")
    with closing(sqlite3.connect(tmp_path / "gatehouse.db")) as database, database:
        database.execute("DELETE FROM theme_files WHERE digest = ?", [digest_of(CONTENTS["img/tile.svg"])])
    done = acme("theme", "pull", "acme", "copy")
    assert done.stderr == "Warning: static/img/tile.svg isn’t written: its content is stored no more.\n"
    assert "Wrote version 2 of acme" in done.stdout
    assert [path.name for path in (tmp_path / "copy").glob("static/*/*")] == ["inter.woff2"]


def test_draft_is_published_and_rolled_back(acme: Run, tmp_path: Path) -> None:
    written(tmp_path / "acme", "Acme two")
    pushed = acme("theme", "push", "acme", "acme", "--note", "Second")
    assert pushed.stdout.startswith(
        "Saved version 2 of acme as a draft. To publish it, run 'gatehouse theme publish acme 2'."
    )
    assert listed(acme) == [(2, False), (1, True)]
    assert "Second" in acme("theme", "versions", "acme").stdout
    assert acme("theme", "publish", "acme", "2").exit_code == 0
    assert listed(acme) == [(2, True), (1, False)]
    assert "version 1 of acme again, instead of 2" in acme("theme", "roll-back", "acme").stdout
    assert listed(acme) == [(2, False), (1, True)]
    assert refused(acme("theme", "roll-back", "acme")).startswith("There is no earlier version.")
    assert "by=command" in acme("audit", "acme").stdout


def test_first_look_of_a_file_is_audited(acme: Run) -> None:
    lines = acme("audit", "acme", "--json").stdout.splitlines()
    (published,) = [row["facts"] for row in map(json.loads, lines) if row["event"] == "theme_versions.published"]
    assert (published["id"], published["version"], published["by"]) == ("brand", 1, "file")
    (version,) = map(json.loads, acme("theme", "versions", "acme", "--json").stdout.splitlines())
    assert version["created_by"] == "file"


def test_applied_theme_is_a_version(acme: Run, tmp_path: Path) -> None:
    written(tmp_path / "acme", "Acme two")
    assert acme("apply", "acme.yaml").exit_code == 0
    assert listed(acme) == [(2, True), (1, False)]
    assert acme("apply", "acme.yaml").exit_code == 0
    assert listed(acme) == [(2, True), (1, False)]
    assert acme("theme", "roll-back", "acme").exit_code == 0
    assert "display_name: Acme\n" in acme("export", "acme").stdout
    assert acme("apply", "acme.yaml").exit_code == 0
    assert listed(acme) == [(2, True), (1, False)]
    assert "display_name: Acme two" in acme("export", "acme").stdout


def test_pushed_draft_does_not_change_what_apply_plans(acme: Run, tmp_path: Path) -> None:
    written(tmp_path / "other", "Other")
    assert acme("theme", "push", "other", "acme").exit_code == 0
    assert "0 to change" in acme("apply", "acme.yaml", "--dry-run").stdout


def test_publication_is_scheduled_and_cancelled(acme: Run, tmp_path: Path) -> None:
    written(tmp_path / "acme", "Acme two")
    acme("theme", "push", "acme", "acme")
    assert refused(acme("theme", "publish", "acme", "2", "--at", "soon")).startswith("--at: expected a date or time")
    assert "PublishAt: expected a time in the future" in refused(
        acme("theme", "publish", "acme", "2", "--at", "2020-01-01")
    )
    assert refused(acme("theme", "publish", "acme", "9")).startswith("Version of the theme not found.")
    assert listed(acme) == [(2, False), (1, True)]


def test_pull_overwrites_no_other_folder(acme: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert (
        refused(acme("theme", "pull", "acme", "mine")) == "mine isn't empty. Add --replace to replace the theme in it."
    )
    (tmp_path / "mine" / "texts").mkdir()
    (tmp_path / "mine" / "texts" / "de.yaml").write_text("continue: Los\n")
    assert acme("theme", "pull", "acme", "mine", "--replace").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "mine").rglob("*") if path.is_file()) == ["notes.txt", "theme.yaml"]


@pytest.mark.parametrize(("link", "target"), [("texts", "out"), ("static/css/theme.css", "out/kept.yaml")])
def test_pull_follows_no_link_out_of_the_folder(acme: Run, tmp_path: Path, link: str, target: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept.yaml").write_text("mine")
    (tmp_path / "mine" / link).parent.mkdir(parents=True)
    (tmp_path / "mine" / link).symlink_to(tmp_path / target)
    assert "expected a link" in refused(acme("theme", "pull", "acme", "mine", "--replace"))
    assert (tmp_path / "out" / "kept.yaml").read_text() == "mine"
    assert not (tmp_path / "mine" / "theme.yaml").exists()


def test_pull_replaces_a_link_within_the_folder(acme: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (tmp_path / "mine" / "theme.yaml").symlink_to("notes.txt")
    assert acme("theme", "pull", "acme", "mine", "--replace").exit_code == 0
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"
    assert "display_name" in (tmp_path / "mine" / "theme.yaml").read_text()


def test_unknown_tenants_themes_and_folders_are_named(acme: Run) -> None:
    assert refused(acme("theme", "versions", "nobody")).startswith("There's no tenant 'nobody'.")
    assert refused(acme("theme", "versions", "acme", "--theme", "Autumn")) == "acme has no theme 'Autumn'."
    assert refused(acme("theme", "push", "none", "acme")) == "There's no folder none."
    assert listed(acme, "--theme", "brand") == [(1, True)]


def test_theme_with_problems_is_not_pushed(acme: Run, folder: Path) -> None:
    (folder / "texts").mkdir()
    (folder / "texts" / "en.yaml").write_text("continu: Go\n")
    assert "texts/en.yaml:1: continu: expected a key of a text" in refused(acme("theme", "push", "acme", "acme"))
    assert listed(acme) == [(1, True)]
