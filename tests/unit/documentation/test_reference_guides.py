"""The guides and the changelog beside the API reference: links that work there, and no markup of their texts."""

import re

import pytest

from app.kit.package_files import CHANGELOG, DOCS
from app.reference.changelog import interface_changes
from app.reference.guides import Guides
from app.reference.markdown import render
from tests.support.documentation.reference import get, pages


def links(text: str) -> set[str]:
    return {link for link in re.findall(r'<a href="(/[^"]*)"|<img src="([^"]*)"', text) for link in link if link}


@pytest.mark.parametrize(
    "name", sorted(path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md"))
)
def test_guide_is_a_page_whose_links_lead_somewhere(name: str) -> None:
    name = name.removesuffix("README").strip("/")
    answer = get(f"/docs/guides/{name}")
    assert answer.status_code == 200
    text = answer.text.partition("<main")[2]
    assert 'href=""' not in text
    for link in links(text):
        path, _, fragment = link.partition("#")
        target = get(path)
        assert target.status_code in (200, 302), link
        assert not fragment or f'id="{fragment}"' in target.text, link


def test_menu_names_every_guide() -> None:
    listed = {guide.name for held in pages()._guides.menu.values() for guide in held}
    inner = {guide.name for guide in pages()._guides.below(pages()._guides.by_name["quickstarts"])}
    assert listed | inner | {""} == set(pages()._guides.by_name)


def test_files_beside_guides_are_served() -> None:
    assert get("/docs/guides/login.png").data == (DOCS / "login.png").read_bytes()
    assert get("/docs/guides/webhooks-events.json").mimetype == "application/json"
    assert get("/docs/guides/../pyproject.toml").status_code == 404


def test_code_span_that_names_an_operation_leads_to_it() -> None:
    text = get("/docs/guides/management-api").text
    assert '<a href="/docs/accounts/accounts.list"><code>GET /v2/manage/accounts</code></a>' in text


def test_commands_of_guides_name_the_host_of_the_demo() -> None:
    guides = Guides({}, "localhost:18000")
    assert "api.localhost:18000/v2/manage" in guides.drawn(guides.by_name["management-api"])
    assert "localhost:8000" not in guides.drawn(guides.by_name["management-api"])


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("<script>alert(1)</script>", "script"),
        ("a <img src=x onerror=alert(1)> b", "onerror"),
        ("[x](javascript:alert(1))", 'href="javascript'),
        ("```\n</code><b>\n```", "<b>"),
        ('```sh title="<b>"\nls\n```', "<b>"),
    ],
)
def test_text_brings_no_markup_of_its_own(text: str, refused: str) -> None:
    assert refused not in render(text)


def published(name: str) -> bool:
    return name in ("/v2/manage/accounts", "NextCursor", "966")


@pytest.mark.parametrize(
    ("item", "is_shown"),
    [
        ("- `GET /v2/manage/accounts` lists accounts.", True),
        ("- Answers have\n  `NextCursor`.", True),
        ("- Refused sign-ins get 966.", True),
        ("- `gatehouse doctor` checks the database.", False),
        ("- Pages load faster.", False),
    ],
)
def test_changelog_of_the_interface_has_what_callers_see(item: str, is_shown: bool) -> None:
    changes = interface_changes(
        f"# Changelog\n\n## 2.0\n\n### Fixed\n\n{item}\n\n## 1.0\n\n### Added\n\n- Nothing.\n", published
    )
    assert (item in changes) == is_shown
    assert ("## 2.0" in changes) == is_shown
    assert "## 1.0" not in changes


def test_changelog_page_shows_some_of_the_file() -> None:
    text = get("/docs/changelog").text
    items = len(re.findall(r"^- ", CHANGELOG.read_text(), re.MULTILINE))
    assert 20 < text.partition("<main")[2].count("<li>") < items
    assert '<a href="/docs/guides/management-api#list-and-search-accounts">' in text
