"""A tenant's own layouts surround its pages, and never break them."""

from __future__ import annotations

from typing import Any

import pytest

from app.kit.templating import compiled
from app.kit.templating.compiled import CompiledTemplate, TemplateFailed
from tests.support.journeys.account_security import signed_in
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.members import Company
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, Visitor

SPLIT = """
<div class="own-frame">{{ mark() }}<p>{{ text("own.slogan") }} · {{ name }}{% if organization %} for {{ organization }}{% endif %}</p>
{{ content() }}
<ul>{% for link in links %}<li><a href="{{ link.address }}">{{ link.text }}</a></li>{% endfor %}</ul>{{ languages() }}</div>
{% if has_scene %}{{ scene() }}{% endif %}
"""
CONSOLE = '<p class="own-top">{{ name }}: {{ section }}</p>{{ bar() }}{{ tabs() }}{{ content() }}{{ footer() }}'
OURS = '<div class="pane">'


def themed(**templates: str) -> dict[str, Any]:
    names = {name: f"layouts/{name}.html" for name in ("split", "console")}
    return {
        "templates": {names[name]: source for name, source in templates.items()},
        "texts": {"en": {"own.slogan": "<Fresh>"}, "de": {"own.slogan": "Frisch"}},
        "links": {"privacy": "https://hazel.example/p?a=1&b=2"},
    }


def test_layout_surrounds_every_page_of_a_sign_in(
    world: World, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    world.change_brand(**themed(split=SPLIT))
    for path in ("/login", "/register", "/forgot-password"):
        page = new_visitor_at(world).open(path)
        assert page.html.count('<div class="own-frame">') == page.html.count('<main class="main" id="main">') == 1
        assert f"&lt;Fresh&gt; · {world.name.title()}" in page.html
        assert '<a href="https://hazel.example/p?a=1&amp;b=2">Privacy</a>' in page.html
        assert OURS not in page.html
    assert "Frisch" in new_visitor_at(world).open("/login?lang=de").text
    assert OURS in new_visitor_at(new_world()).open("/login").html, "the pages of other tenants are ours"


def test_form_in_a_layout_works(world: World, visitor: Visitor) -> None:
    world.change_brand(**themed(split=SPLIT))
    page = visitor.open("/login").press("Sign in", identifier="nobody@example.com", password="wrong-horse-7")
    assert "Wrong email" in page.text
    assert '<div class="own-frame">' in page.html


def test_account_pages_have_the_layout_with_their_section(company: Company, world: World, visitor: Visitor) -> None:
    world.change_brand(**themed(console=CONSOLE))
    page = signed_in(visitor, company.ada, "/security")
    assert f'<p class="own-top">{world.name.title()}: security</p>' in page.html
    assert '<body class="console own">' in page.html
    assert 'href="/security" aria-current="page"' in page.html


def test_changed_layout_is_on_the_next_page(
    world: World, new_visitor: NewVisitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    for words in ("First", "Second"):
        world.change_brand(**themed(split=f"<p>{words}</p>{{{{ content() }}}}{{{{ footer() }}}}"))
        assert f"<p>{words}</p>" in new_visitor().open("/login").html


@pytest.mark.parametrize(
    "source",
    [
        "{{ content() }}<script>alert(1)</script>{{ footer() }}",
        "{{ content() }}{{ removed_part() }}{{ footer() }}",
        "{{ content() }}{{ removed_value }}{{ footer() }}",
        "{{ footer() }}",
        "{% broken",
        "{{ content() }}{% for a in ().__class__.__mro__ %}{% endfor %}{{ footer() }}",
    ],
)
def test_layout_that_this_version_refuses_leaves_ours(world: World, visitor: Visitor, source: str) -> None:
    world.change_brand(**themed(split=source))
    page = visitor.open("/login")
    assert OURS in page.html
    assert "alert(1)" not in page.html


def test_layout_that_fails_leaves_ours(world: World, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise TemplateFailed("ZeroDivisionError: division by zero")

    monkeypatch.setattr(CompiledTemplate, "render", fail)
    world.change_brand(**themed(split=SPLIT))
    assert OURS in visitor.open("/login").html


def test_layout_whose_output_is_too_large_leaves_ours(
    world: World, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "MAX_OUTPUT", 100)
    world.change_brand(**themed(split=SPLIT))
    assert OURS in visitor.open("/login").html


def test_layout_that_takes_too_long_leaves_ours(
    world: World, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "MAX_SECONDS", -1.0)
    world.change_brand(**themed(split=SPLIT))
    assert OURS in visitor.open("/login").html
