"""The pages of docs/: relative links lead somewhere, the index is complete, and every error that they explain is one of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.contract.oauth import oauth_errors
from app.kit.operations.errors import OAuthError
from tests.support.documentation.explained_errors import TROUBLES, explained
from tests.support.sources import ROOT, nodes, text, under

FOLDER = Path("docs")
PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / FOLDER).rglob("*.md"))
EXEMPT_PAGES = {"README.md"}


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


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", *PAGES])
def test_prose_has_typographic_apostrophes_and_quotes(page: str) -> None:
    prose = re.sub(r"^( *)```.*?^\1```|<!--.*?-->|`[^`\n]+`", "", text(Path(page)), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in prose.splitlines() if re.search(r"\w'|(?:^|[\s(])\"\w", line)] == []


def test_no_page_installs_the_other_gatehouse() -> None:
    """The package index has another project of that name: ours is gatehouse-identity, and runs from a checkout."""
    pages = ["README.md", "CONTRIBUTING.md", *PAGES]
    commands = [found for page in pages for found in re.findall(r"\b(?:pipx?|uvx?)\b[^`\n]*", text(Path(page)))]
    assert "pipx run --spec . gatehouse demo" in commands
    named = [command for command in commands if re.search(r"\sgatehouse(?![\w-])", command)]
    assert [command for command in named if "--spec . " not in command] == []


def test_index_names_every_page() -> None:
    index = text(FOLDER / "README.md")
    named = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert named == {path.name for path in (ROOT / FOLDER).glob("*.md")} - EXEMPT_PAGES


def written(node: ast.expr) -> str:
    """Return a text of the source, with "…" for each value in it and for a text that another function makes."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    parts = node.values if isinstance(node, ast.JoinedStr) else ()
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts) or "…"


def kind_of(node: ast.AST) -> type[OAuthError] | None:
    """Return the class of OAuth's errors that the node names."""
    word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    kind = vars(oauth_errors).get(word)
    return kind if isinstance(kind, type) and issubclass(kind, OAuthError) else None


def refusals(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each (error, error_description) that a module of the identity service can answer."""
    has_own_text: set[int] = set()
    for node in nodes(path):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            has_own_text.update(map(id, ast.walk(node.type)))
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name, texts = node.func, [written(arg) for arg in node.args]
        if isinstance(name, ast.Name) and name.id == "RefusedByRedirect" and len(texts) == 2:
            yield texts[0], texts[1]
        elif isinstance(name, ast.Attribute) and name.attr == "names" and (kind := kind_of(name.value)):
            has_own_text.add(id(name.value))
            yield str(kind.code), f"The {texts[0]} is a required parameter."
        elif kind := kind_of(name):
            has_own_text.add(id(name))
            yield str(kind.code), texts[0]
    for node in nodes(path):
        if id(node) not in has_own_text and (kind := kind_of(node)):
            yield str(kind.code), kind.description


def test_explained_oauth_errors_are_those_of_the_code() -> None:
    known = {pair for path in under("app") if set(path.parts) & {"protocols", "assembly"} for pair in refusals(path)}
    assert len(explained()) > 30
    assert explained() - known == set()


@pytest.mark.parametrize(
    "module", ["grants/authorization_code.py", "grants/__init__.py", "client_authentication/shared_secrets.py"]
)
def test_refusals_of_a_code_and_a_secret_are_explained(module: str) -> None:
    raised = {pair for pair in refusals(Path("app/identity/protocols/oauth") / module) if "details" not in pair[1]}
    assert raised
    assert raised - explained() == set()


@pytest.mark.parametrize(
    "section", ["What users see", "What operators see at the start", "What operators see in the log"]
)
def test_explained_sentences_are_in_the_program(section: str) -> None:
    rows = TROUBLES.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    sentences = [
        row for row in re.findall(r"^\| ([^|]+?) \|", rows, re.MULTILINE) if row not in ("Text", "Event", "---")
    ]
    folders = [ROOT / "app", ROOT / "templates"]
    source = "".join(
        path.read_text() for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".html")
    )
    plain = re.sub(r'"\s+f?"|\{[\w.()!\[\]]*\}', "", re.sub(r"\s+", " ", source)).replace("’", "'")
    assert len(sentences) >= 4
    assert [sentence for sentence in sentences if sentence.replace("’", "'").strip("`") not in plain] == []
