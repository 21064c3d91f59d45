"""The pages of docs/: relative links lead somewhere, the index is complete, and every error that they explain is one of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.contract import errors_oauth
from app.kit.errors import OAuthError
from tests.support.sources import ROOT, text

FOLDER = Path("docs")
PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / FOLDER).rglob("*.md"))
TROUBLES = text(FOLDER / "troubleshooting.md")
WRITTEN_ELSEWHERE = {"README.md"}


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", *PAGES])
def test_relative_links_lead_somewhere(page: str) -> None:
    found = re.findall(r"\]\((?!https?:|mailto:|#)([^)\s]+)\)", text(Path(page)))
    for link in found:
        target, _, anchor = link.partition("#")
        path = (ROOT / page).parent / target
        assert path.exists(), f"{page}: {link}"
        assert not anchor or anchor in anchors(path), f"{page}: {link}"


def test_index_names_every_page() -> None:
    index = text(FOLDER / "README.md")
    named = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert named == {path.name for path in (ROOT / FOLDER).glob("*.md")} - WRITTEN_ELSEWHERE


def test_explained_oauth_errors_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|`]+?) \|[^|]+\|[^|]+\|$", TROUBLES, re.MULTILINE)
    known = {
        (one.code, one.description)
        for one in vars(errors_oauth).values()
        if isinstance(one, type) and issubclass(one, OAuthError) and one is not OAuthError
    }
    source = "".join(path.read_text() for path in (ROOT / "app" / "identity" / "protocols").rglob("*.py"))
    assert len(rows) > 15
    assert [row for row in rows if row not in known and f'"{row[1]}"' not in source] == []


@pytest.mark.parametrize(
    "section", ["What users see", "What operators see at the start", "What operators see in the log"]
)
def test_explained_sentences_are_in_the_program(section: str) -> None:
    rows = TROUBLES.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    sentences = [
        row for row in re.findall(r"^\| ([^|]+?) \|", rows, re.MULTILINE) if row not in ("text", "event", "---")
    ]
    folders = [ROOT / "app", ROOT / "templates"]
    source = "".join(
        path.read_text() for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".html")
    )
    plain = re.sub(r'"\s+f?"|\{[\w.()!\[\]]*\}', "", re.sub(r"\s+", " ", source)).replace("’", "'")
    assert len(sentences) >= 4
    assert [one for one in sentences if one.replace("’", "'").strip("`") not in plain] == []
