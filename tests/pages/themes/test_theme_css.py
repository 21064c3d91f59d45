"""A tenant's own style sheet follows ours on its pages, from the tenant's host."""

from __future__ import annotations

import re

import pytest

from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

CSS = ".own-top { color: #0a7d55; background: url(/theme/hills.jpg) }\n@media (max-width: 400px) { .own-top { padding: 4px } }"


def sheet_of(page: VisitedPage) -> str:
    found = re.findall(r'<link rel="stylesheet" nonce="[^"]+" href="(/theme/[^"]+)">', page.html)
    return str(found[0]) if found else ""


def test_style_sheet_follows_ours_under_a_digest(world: World, visitor: Visitor) -> None:
    world.change_brand(css=CSS)
    page = visitor.open("/login")
    address = sheet_of(page)
    assert re.fullmatch(r"/theme/theme\.[0-9a-f]{12}\.css", address)
    assert page.html.index('href="/static/split.') < page.html.index(":root{") < page.html.index(address)
    sheet = visitor.open(address)
    assert sheet.answer is not None
    assert sheet.answer.headers["Content-Type"] == "text/css; charset=utf-8"
    assert sheet.answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    text = sheet.answer.get_data(as_text=True)
    assert ".own-top{color:#0a7d55;background:url(/theme/hills.jpg)}" in text.replace('"', "")
    assert text.endswith(".tabs{position:relative!important;inset:auto!important}}"), (
        "the page stands above what the theme places"
    )


def test_style_sheet_is_the_tenants_alone(world: World, new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world.change_brand(css=CSS)
    address = sheet_of(new_visitor_at(world).open("/login"))
    other = new_visitor_at(new_world())
    assert sheet_of(other.open("/login")) == ""
    answer = other.open(address).answer
    assert answer is not None
    assert answer.status_code == 404


def test_name_of_an_older_style_sheet_gets_the_present_one(world: World, visitor: Visitor) -> None:
    world.change_brand(css=CSS)
    answer = visitor.open("/theme/theme.000000000000.css").answer
    assert answer is not None
    assert answer.headers["Cache-Control"] == "no-store"
    assert ".own-top{" in answer.get_data(as_text=True)


@pytest.mark.parametrize(
    "css",
    ["@import url(https://evil.example/a.css);", ".main { display: none }", "a {", "</style><script>alert(1)</script>"],
)
def test_style_sheet_that_this_version_refuses_is_left_out(world: World, visitor: Visitor, css: str) -> None:
    world.change_brand(css=css)
    page = visitor.open("/login")
    assert sheet_of(page) == ""
    assert "alert(1)" not in page.html
