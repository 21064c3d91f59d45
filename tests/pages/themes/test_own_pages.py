"""A tenant's own templates of pages replace and arrange blocks of ours, and lose nothing of them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from app.contract.tenants.branding import Brand
from app.contract.themes import layout_templates
from app.contract.themes.page_templates import MAIN, page_templates
from app.contract.themes.part_bodies import OUR_BODIES
from app.contract.themes.part_templates import PARTS
from app.hub import gallery
from app.hub.rendering import own_pages
from app.hub.rendering.own_pages import shown
from app.hub.tenants.own_templates import own_templates
from app.hub.theme_check import review
from app.kit.templating.compiled import CompiledTemplate, TemplateFailed
from app.kit.templating.contract import NO_EFFECTS, TemplateContract
from tests.support.browsers import page_samples
from tests.support.oauth.world import World
from tests.support.visitors.visitor import NewVisitorAt, Visitor

LOGIN = "pages/sign_in/login.html"
FORGOT = "pages/recovery/forgotten_credential.html"
ARRANGED = """
<section class="own-hero">{{ heading() }}<p>{{ text("sign_in_to_name", name=name) }}{% if is_returning %} again{% endif %}</p></section>
{{ sign() }}{{ notice() }}{{ body() }}
{% if has_methods %}<div class="own-methods">{{ methods() }}</div>{% endif %}
{{ more() }}{{ ways_out() }}
"""


def test_page_is_arranged_by_the_tenant(world: World, visitor: Visitor) -> None:
    world.change_brand(templates={LOGIN: ARRANGED})
    page = visitor.open("/login")
    name = world.name.title()
    assert f'<section class="own-hero"><h1>Sign in to <bdi>{name}</bdi></h1>' in page.html
    assert f"<p>Sign in to {name}</p>" in page.html
    assert 'class="own-methods"' not in page.html, "it has no other ways to sign in"
    refused = page.press("Sign in", identifier="nobody@example.com", password="wrong-horse-7")
    assert "Wrong email" in refused.text
    assert '<section class="own-hero">' in refused.html


def test_block_of_a_page_is_replaced(world: World, new_visitor_at: NewVisitorAt) -> None:
    own = """{% block lead %}<p class="own-lead">{{ name }}: {{ text("own.calm") }}</p>{% endblock %}
{% block ways_out %}<div class="own-ways">{{ super() }}</div>{% endblock %}"""
    texts = {"en": {"own.calm": "It's <easy>"}, "de": {"own.calm": "Nur Mut"}}
    world.change_brand(templates={FORGOT: own}, texts=texts)
    page = new_visitor_at(world).open("/forgot-password")
    assert f'<p class="own-lead">{world.name.title()}: It&#39;s &lt;easy&gt;</p>' in page.html
    assert "we’ll send you a link" not in page.text
    assert '<div class="own-ways"><p class="aside"><a href="/login' in page.html
    assert "Nur Mut" in new_visitor_at(world).open("/forgot-password?lang=de").text
    assert "own-" not in new_visitor_at(world).open("/login").html, "other pages are ours"


def test_fields_are_drawn_by_the_tenant(world: World, visitor: Visitor) -> None:
    own = """<div class="own-field{% if is_wrong %} own-wrong{% endif %}">{{ control() }}{{ label() }}</div>
{{ note() }}{% if has_beside %}<div class="own-beside">{{ beside() }}</div>{% endif %}<small>{{ field }}</small>"""
    world.change_brand(templates={"macros/field.html": own})
    page = visitor.open("/login")
    assert page.html.count('<div class="own-field">') == 2
    assert page.html.count('<div class="own-beside">') == 1, "the password has its way out beside it"
    assert "<small>identifier</small>" in page.html
    refused = page.press("Sign in", identifier="nobody@example.com", password="")
    assert '<div class="own-field own-wrong">' in refused.html
    assert "Enter your password" in refused.text


def test_messages_are_drawn_by_the_tenant(world: World, visitor: Visitor) -> None:
    own = '<i class="own-sign">{{ tone }}</i><div>{{ message() }}</div>{{ problems() }}'
    world.change_brand(templates={"macros/notice.html": own})
    page = visitor.open("/login").press("Sign in", identifier="nobody@example.com", password="a", token="wrong")
    assert '<div class="notice notice--note" id="summary"' in page.html, "the box around the message is ours"
    assert '<i class="own-sign">note</i><div><strong>We couldn’t verify your request</strong>' in page.html


def test_values_of_people_are_plain_text(world: World, visitor: Visitor) -> None:
    body = '{% block body %}<p title="{{ name }}">{{ name }}</p>{{ super() }}{% endblock %}'
    world.change_brand(templates={LOGIN: body}, display_name='"><b>x')
    assert '<p title="&#34;&gt;&lt;b&gt;x">&#34;&gt;&lt;b&gt;x</p>' in visitor.open("/login").html


@pytest.mark.parametrize(
    "source",
    [
        "{{ heading() }}",
        "{% block body %}no form{% endblock %}",
        "{% block body %}{{ super() }}{{ super() }}{% endblock %}",
        "{% block removed %}{% endblock %}",
        "{% block lead %}{{ removed_value }}{% endblock %}",
        "{% block lead %}<script>alert(1)</script>{% endblock %}",
        "{% block lead %}",
    ],
)
def test_template_that_this_version_refuses_leaves_ours(
    world: World, new_visitor_at: NewVisitorAt, source: str
) -> None:
    ours = new_visitor_at(world).open("/login").html
    world.change_brand(templates={LOGIN: source})
    page = new_visitor_at(world).open("/login")
    assert re.findall("<(h1|form|input|a) ", page.html) == re.findall("<(h1|form|input|a) ", ours)
    assert "alert(1)" not in page.html


def test_block_that_fails_leaves_ours(
    world: World, visitor: Visitor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> str:
        raise TemplateFailed("ZeroDivisionError: division by zero")

    monkeypatch.setattr(CompiledTemplate, "render", fail)
    world.change_brand(templates={FORGOT: "{% block lead %}<p>own</p>{% endblock %}"})
    assert "we’ll send you a link" in visitor.open("/forgot-password").text
    assert "a file of the tenant's theme failed; pages have ours" in caplog.text


@pytest.fixture
def arranged(monkeypatch: pytest.MonkeyPatch) -> str:
    """The look of a tenant that places each block of each page where ours is."""
    templates = {
        name: "".join(f"{{{{ {block}() }}}}" for block in page.blocks) for name, page in page_templates().items()
    }
    own = replace(gallery.TENANTS["acme"], templates=own_templates(templates))
    assert all(MAIN in own.templates.blocks(name) for name in templates)
    monkeypatch.setitem(gallery.TENANTS, "arranged", own)
    return "arranged"


@pytest.fixture
def wrapped(monkeypatch: pytest.MonkeyPatch) -> str:
    """The look of a tenant that wraps each block of each page."""
    templates = {
        name: "".join(f"{{% block {block} %}}{{{{ super() }}}}{{% endblock %}}" for block in page.blocks)
        for name, page in page_templates().items()
    }
    own = replace(gallery.TENANTS["acme"], templates=own_templates(templates))
    assert all(MAIN not in own.templates.blocks(name) for name in templates)
    monkeypatch.setitem(gallery.TENANTS, "wrapped", own)
    return "wrapped"


@pytest.fixture
def with_parts(monkeypatch: pytest.MonkeyPatch) -> str:
    """The look of a tenant with templates of parts that place everything where ours do."""
    templates = {
        name: marker(name) + "".join(f"{{{{ {part}() }}}}" for part in contract.parts if not _replaces(contract, part))
        for name, contract in PARTS.items()
    }
    own = replace(gallery.TENANTS["acme"], templates=own_templates(templates))
    assert all(own.templates.blocks(name) for name in templates)
    monkeypatch.setitem(gallery.TENANTS, "with_parts", own)
    return "with_parts"


def _replaces(contract: TemplateContract, part: str) -> bool:
    """Return whether a part takes the place of others, as `note` does of `problem` and `hint`."""
    return any(part in others for others in contract.instead.values())


@pytest.fixture
def with_our_bodies(monkeypatch: pytest.MonkeyPatch) -> str:
    """The look of a tenant whose parts are ours, as the contract shows them."""
    own = replace(gallery.TENANTS["acme"], templates=own_templates(OUR_BODIES))
    assert all(own.templates.blocks(name) for name in OUR_BODIES)
    monkeypatch.setitem(gallery.TENANTS, "with_our_bodies", own)
    return "with_our_bodies"


def marker(part: str) -> str:
    """The beginning of the template of a part in the look `with_parts`."""
    return f'<i class="own-{part.removeprefix("macros/").removesuffix(".html")}"></i>'


def bare(html: str) -> list[str]:
    """Return what is left of a page without the elements that arrange the insides of parts, in an order of its own.

    The hint stands behind the error that a template places.
    """
    html = re.sub(r'<i class="own-[a-z]+"></i>|<(span( class="what")?|small)>|</(span|small)>', "", html)
    html = re.sub(r'<div class="note">|(?<="hint) behind(?=")', "", html)
    return sorted(plain(html))


def plain(html: str) -> str:
    """Return a page without what differs at each render, and without the column around the blocks."""
    return re.sub(r'<div( class="(narrow|top|beside)")?>|</div>|\s+', "", "".join(lines(html)))


def lines(html: str) -> list[str]:
    """Return the lines of a page that have text or markup, without what differs at each render."""
    html = re.sub(r'nonce="[^"]*"|name="token" value="[^"]*"|datetime="[^"]*">[^<]*|[A-Za-z0-9_+/=-]{22,}', "", html)
    return [line for line in html.splitlines() if line]


@pytest.mark.parametrize("look", ["arranged", "wrapped", "with_parts"])
@pytest.mark.parametrize("page", sorted(page_samples.states()))
def test_every_state_keeps_all_blocks(look: str, page: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(look)
    for state in page_samples.states()[page]:
        ours, own = (page_samples.PAGES.render(page, state, "ar", each).html for each in ("acme", look))
        if look == "with_parts":
            assert bare(own) == bare(ours), state
        else:
            assert plain(own) == plain(ours), state


@pytest.mark.parametrize("page", sorted(page_samples.states()))
def test_our_bodies_as_a_theme_are_our_page(with_our_bodies: str, page: str) -> None:
    for state in page_samples.states()[page]:
        ours, own = (page_samples.PAGES.render(page, state, "en", each).html for each in ("acme", with_our_bodies))
        assert lines(own) == lines(ours), state


def test_every_part_has_its_body_and_passes() -> None:
    assert OUR_BODIES.keys() == PARTS.keys()
    brand = Brand(templates=dict(OUR_BODIES))
    assert list(layout_templates.problems(PARTS, brand, lambda _: True, NO_EFFECTS)) == []


def test_name_of_an_application_is_escaped_in_a_button() -> None:
    own = own_templates({"macros/button.html": "<b>{{ label() }}</b>"})
    found = own.render("macros/button.html", lambda *_: "", {}, {"label": "Back to <img src=x>"}, lambda *_: None)
    assert found == "<b>Back to &lt;img src=x&gt;</b>"


def test_every_part_has_its_template_on_every_page(with_parts: str) -> None:
    elements = {
        "macros/chip.html": 'class="chip"',
        "macros/notice.html": 'class="notice notice--[a-z]+" id="summary"',
        "macros/password.html": 'class="secret"',
        "macros/summary.html": 'class="fix"',
        "macros/row.html": 'class="row" href="[^"]*"><i',
    }
    found = set()
    for page, state in review.page_names((), page_samples.names()):
        own = page_samples.PAGES.render(page, state, "en", with_parts).html
        found |= {name for name in PARTS if marker(name) in own}
        for name, element in elements.items():
            assert len(re.findall(element, own)) == own.count(marker(name)), (page, state, name)
    assert found == PARTS.keys()


def test_every_value_can_be_read_in_every_state() -> None:
    for page, state in page_samples.names():
        address = page_samples.address(page, state, "en")
        with page_samples.hub().test_request_context(address, base_url="http://localhost"):
            gallery.use_sample_tenant("acme", "en")
            shown_page = gallery.pages_by_name()[page].samples()[state]
            template = page_templates().get(shown_page.template)
            for name, value in template.values.items() if template else ():
                shown(getattr(shown_page, name), value)


def test_value_that_fails_leaves_ours(world: World, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise ValueError("a value of a person")

    monkeypatch.setattr(own_pages, "shown", fail)
    world.change_brand(templates={FORGOT: "{% block lead %}{% if asks_phone %}<p>own</p>{% endif %}{% endblock %}"})
    assert "we’ll send you a link" in visitor.open("/forgot-password").text
