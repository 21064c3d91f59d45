"""Cached fragments: no page shows what was rendered for another person."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask

from app.hub.gallery import TENANTS, all_samples, use_sample_tenant
from app.hub.locale import LANGUAGES
from app.hub.rendering import fragments, frame
from app.hub.rendering.fragments import NotInFragment, visible_names
from app.hub.rendering.page import Page
from app.hub.tenants.tenant import HubTenant
from app.hub.web.cookies import RelyingPartyLink
from app.hub.web.csrf import FormTokens
from app.hub.web.visit import Visit, current_visit, set_current_visit
from tests.support.browsers import page_samples

FORMER, LATER = ("Lovelace", "n0nce-of-ada-16b"), ("Hopper", "n0nce-of-grace-1")
"""Two people: a name, which every value of the visit contains, and a nonce."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    """A hub that keeps fragments, as outside of development."""
    app = page_samples.hub()
    monkeypatch.setattr(app.jinja_env, "auto_reload", False)
    monkeypatch.setattr(FormTokens, "make", lambda _, *bound: "-".join(bound))
    cached_fragments(app).clear()
    yield app
    cached_fragments(app).clear()


def cached_fragments(app: Flask) -> fragments.FragmentCache:
    found: fragments.FragmentCache = app.extensions["gatehouse.fragments"]
    return found


def page(app: Flask, person: tuple[str, str], look: str, language: str, sample: tuple[type[Page], str]) -> str:
    """Render a sample for a person, whose browser knows an application of that name."""
    (name, nonce), (kind, state) = person, sample
    parameters = {"QUERY_STRING": f"attempt={name}", "HTTP_COOKIE": f"gatehouse-language={name}"}
    with app.app_context():
        set_current_visit(Visit(environ=parameters, cookies={"gatehouse-language": name}))
        use_sample_tenant(look, language)
        visit = current_visit()
        visit.nonce, visit.binding, visit.session, visit.named_uid = nonce, name, name, name
        visit.tenant, visit.has_organizations = replace(visit.tenant, has_organizations=True), person == FORMER
        assert visit.interaction is not None
        return kind.samples()[state].html().replace("sample", "attempt")


@pytest.fixture
def application(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both people come from an application, which is named after them."""

    def link() -> RelyingPartyLink:
        name = current_visit().named_uid
        return RelyingPartyLink(f"{name} %(nonce)s <b>", f"https://{name}.example/")

    monkeypatch.setattr(frame, "last_application", link)


LOOKS = ("acme", "harbor", "vista", "quiet", "member", "member-logo")
PAGES = ["ProfilePage", "LoginPage", "SecondFactorPage", "OrganizationMembersPage", "ErrorPage"]


@pytest.mark.usefixtures("application")
@pytest.mark.parametrize("name", PAGES)
def test_page_after_others_is_as_if_nothing_were_cached(hub: Flask, name: str) -> None:
    with hub.app_context():
        kind = next(item for item, _ in all_samples() if item.__name__ == name)
        sample = kind, next(iter(kind.samples()))
    every = [(look, language) for look in LOOKS for language in LANGUAGES]
    alone = {}
    for look, language in every:
        cached_fragments(hub).clear()
        alone[look, language] = page(hub, LATER, look, language, sample)
    for look, language in every:
        page(hub, FORMER, look, language, sample)
    for look, language in every:
        assert page(hub, LATER, look, language, sample) == alone[look, language], (look, language)


@pytest.mark.usefixtures("application")
def test_no_value_of_a_visit_is_cached(hub: Flask) -> None:
    with hub.app_context():
        every = dict(all_samples()).items()
    shown = "".join(page(hub, FORMER, "member", "de", sample) for sample in every)
    assert f'nonce="{FORMER[1]}"' in shown
    assert f"https://{FORMER[0]}.example/" in shown
    texts = cached_fragments(hub).values()
    assert len(texts) > 5
    for text in texts:
        assert FORMER[0] not in text
        assert FORMER[1] not in text
        assert "sample" not in text


def test_fragment_is_refused_the_page_and_the_visit(hub: Flask) -> None:
    for name in ("page.notice", "frame.visit.nonce"):
        with hub.app_context(), visible_names(brand=TENANTS["acme"]), pytest.raises(NotInFragment):
            hub.jinja_env.from_string("{{ brand.name }}{{ " + name + " }}").render()


def test_templates_have_nothing_of_the_request(hub: Flask) -> None:
    assert {"request", "session", "g", "config"}.isdisjoint(hub.jinja_env.globals)


def test_holes_are_escaped_and_filled_as_they_are(hub: Flask) -> None:
    with hub.app_context():
        for value in ("<b>", "%(application)s", "100 %", "%%"):
            found = fragments.fragment("bar", TENANTS["acme"], slots={"application": value})
            assert value.replace("<", "&lt;").replace(">", "&gt;") in found


def test_number_of_cached_fragments_is_bounded(hub: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    bounded = fragments.FragmentCache(3)
    monkeypatch.setitem(hub.extensions, "gatehouse.fragments", bounded)
    with hub.app_context():
        for section in "abcde":
            fragments.fragment("tabs", TENANTS["acme"], section, False, False, slots={})
    assert len(bounded.values()) == 3


def test_fragments_of_a_tenant_evict_no_others(hub: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    bounded = fragments.FragmentCache(3)
    monkeypatch.setitem(hub.extensions, "gatehouse.fragments", bounded)
    for name, sections in (("globex", "a"), ("acme", "abcde")):
        with hub.app_context():
            set_current_visit(Visit(tenant=HubTenant(name, TENANTS[name])))
            for section in sections:
                fragments.fragment("tabs", TENANTS[name], section, False, False, slots={})
    assert [len(bounded.keys(name)) for name in ("globex", "acme")] == [1, 2]
