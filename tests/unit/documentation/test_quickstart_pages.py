"""The pages of docs/quickstarts as text: the index, their links, and the check of the versions that they install."""

import re
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from app.demo.starters import STYLE
from tests.support.documentation.quickstarts import FOLDER, INSTALLING, check_installed
from tests.support.sources import ROOT, files, text
from tools.quickstarts import STYLED, with_style

PAGES = sorted((ROOT / FOLDER).glob("*.md"))


def test_index_lists_every_quickstart() -> None:
    listed = re.findall(r"^\| \[[^]]+\]\((\w[\w-]*\.md)\)", text(FOLDER / "README.md"), re.MULTILINE)
    assert sorted(listed) == [page.name for page in PAGES if page.name != "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page.read_text()):
        target = page.parent / link if link else page
        assert target.exists(), link
        headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
        names = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
        assert not anchor or anchor in names, anchor


def test_quickstarts_have_the_style_sheet_of_the_starters() -> None:
    """`python -m tools.quickstarts --style` writes it into the pages."""
    assert len(STYLE.read_bytes()) <= 3000
    assert [name for name in STYLED if with_style(page := text(FOLDER / f"{name}.md")) != page] == []
    assert [name for name in STYLED if text(FOLDER / f"{name}.md").count(STYLE.read_text()) != 1] == []


def test_starters_and_quickstarts_share_one_icon() -> None:
    templates = [path for path in files() if path.parts[:2] == ("examples", "starters") and path.stem == "home"]
    pages = [*templates, *(FOLDER / f"{name}.md" for name in STYLED)]
    icons = {path: re.findall(r"data:image/svg[^\"]+", text(path)) for path in pages}
    assert len({tuple(found) for found in icons.values()}) == 1, icons


def test_starter_shows_an_account_without_name_and_email() -> None:
    """As after a sign-up with a phone number or a username."""
    templates = Environment(loader=FileSystemLoader(ROOT / "examples/starters/flask/templates"), autoescape=True)
    values = {"user": {"sub": "c98059dd"}, "config": {"APP_NAME": "Desk"}, "url_for": lambda *_, **__: "/"}
    page = templates.get_template("home.html").render(values)
    assert re.findall(r"(?:face\".*?>|<dt>)(\w+)<", page) == ["C", "Subject"]


@pytest.mark.parametrize(
    "line",
    ['pip install "flask~=2.0"', "pip install flask", "npm install express@4", "npm install express"],
)
def test_other_version_than_the_lock_is_found(line: str) -> None:
    assert INSTALLING.fullmatch(f"{line}\n")
    with pytest.raises(AssertionError, match=r"in the page|no version"):
        check_installed(line)
