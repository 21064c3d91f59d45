"""The first page of a visit, kept and filled in, is the page that Flask renders (decisions/0277)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client, EnvironBuilder

from app.hub.kept_pages import PATHS, KeptPages
from app.kit.lru_cache import LruCache
from tests.support.comparable_pages import FRESH, Answer
from tests.support.oauth_world import World
from tests.support.visitor import NewVisitor, Visitor

OF_GERMANS = {"Accept-Language": "de-CH,ar;q=0.8"}


@dataclass
class Comparison:
    """One hub, with the kept pages before Flask and without."""

    hub: Flask
    base_url: str

    def is_kept(self, path: str, headers: dict[str, str], method: str = "GET") -> bool:
        environ = EnvironBuilder(path, self.base_url, method=method, headers=[*headers.items()]).get_environ()
        return KeptPages.of(self.hub).ready(environ) is not None

    def kept(self, path: str, headers: dict[str, str], method: str = "GET") -> Answer:
        """Answer as the hub does, once it has answered the same before."""
        self._asked(self.hub, path, headers, method)
        self._asked(self.hub, path, headers, method)
        return self._asked(self.hub, path, headers, method)

    def straight(self, path: str, headers: dict[str, str], method: str = "GET") -> Answer:
        return self._asked(KeptPages.of(self.hub).straight, path, headers, method)

    def _asked(self, app: Any, path: str, headers: dict[str, str], method: str) -> Answer:
        client = Client(app, use_cookies=False)
        return Answer(client.open(path, method=method, base_url=self.base_url, headers=headers))


@pytest.fixture
def compared(hub_app: Flask, world: World) -> Comparison:
    return Comparison(hub_app, world.services.settings.hub_url(world.name))


def cookies_of(visitor: Visitor) -> dict[str, str]:
    held = (visitor.client._cookies or {}).values()
    return {"Cookie": "; ".join(f"{cookie.key}={cookie.value}" for cookie in held)}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        OF_GERMANS,
        {"Accept-Language": "ar"},
        {"Accept-Encoding": "br, gzip"},
        {"Cookie": "gatehouse-browser=an-older-secret-0123456789"},
        {"Cookie": "consent=all; theme=dark"},
        {"Cookie": "theme=\xff"},
    ],
    ids=["plain", "German", "Arabic", "gzip", "returning browser", "cookies of others", "a cookie of no letters"],
)
@pytest.mark.parametrize("path", sorted(PATHS))
def test_kept_page_is_the_rendered_page(compared: Comparison, path: str, headers: dict[str, str]) -> None:
    kept = compared.kept(path, headers)
    assert compared.is_kept(path, headers)
    assert kept.comparable == compared.straight(path, headers).comparable
    assert kept.response.content_length == len(kept.response.get_data())


@pytest.mark.parametrize("asked", [{}, {"ui_locales": "ar"}, {"display": "popup"}], ids=["plain", "Arabic", "pop-up"])
def test_kept_page_of_an_application_is_the_rendered_page(
    world: World, compared: Comparison, new_visitor: NewVisitor, asked: dict[str, str]
) -> None:
    shop = world.application("shop", client_name="Acme Shop", logo_uri="https://cdn.example/shop.png")
    first, second = new_visitor(), new_visitor()
    compared.kept(first.authorize(shop, **asked).address.removeprefix(compared.base_url), cookies_of(first))
    path = second.authorize(shop, **asked).address.removeprefix(compared.base_url)
    assert compared.is_kept(path, cookies_of(second))
    kept, straight = compared.kept(path, cookies_of(second)), compared.straight(path, cookies_of(second))
    assert kept.comparable == straight.comparable
    assert path.partition("attempt=")[2] in kept.text
    assert "Acme Shop" in kept.text


def test_another_application_gets_its_own_page(world: World, compared: Comparison, new_visitor: NewVisitor) -> None:
    one, two = (
        world.application(name, client_name="Shop", tos_uri=f"https://{name}.example") for name in ("one", "two")
    )
    for shop, address in ((one, "https://one.example"), (two, "https://two.example"), (one, "https://one.example")):
        visitor = new_visitor()
        path = visitor.authorize(shop).address.removeprefix(compared.base_url)
        assert address in compared.kept(path, cookies_of(visitor)).text


def test_every_visit_has_its_own_nonce_token_and_secret(compared: Comparison) -> None:
    compared.kept("/login", {})
    answers = [compared.kept("/login", {}) for _ in range(3)]
    found = [FRESH.findall(f"{answer.response.headers} {answer.text}") for answer in answers]
    assert len({part for parts in found for part in parts if part.startswith("nonce-")}) == 3
    assert len({part for parts in found for part in parts if part.startswith("gatehouse-browser")}) == 3
    assert len({part for parts in found for part in parts if part.startswith("value=")}) == 3


@pytest.mark.parametrize("chosen", ["nosniff", "form-action", "e", 'autocomplete="username"'])
def test_browser_cannot_choose_what_is_filled_in_for_others(
    compared: Comparison, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    """A secret that is also a text of the page or of a header must not become a place for the secrets of others."""
    other = {"Cookie": f"gatehouse-browser={'x' * len(chosen)}"}
    compared.straight("/login", {})  # asks for the tenant
    expected = compared.straight("/login", other).comparable
    monkeypatch.setattr("app.hub.page._shells", {})
    monkeypatch.setattr(KeptPages.of(compared.hub), "_kept", LruCache(8))
    compared.kept("/login", {"Cookie": f"gatehouse-browser={chosen}"})
    assert compared.kept("/login", other).comparable == expected


def test_form_of_a_kept_page_signs_in(world: World, compared: Comparison, new_visitor: NewVisitor) -> None:
    ada = world.person("ada@example.com")
    compared.kept("/login", {"Accept-Language": "en"})
    page = new_visitor().open("/login")
    assert page.press("Sign in", identifier=ada.email, password=ada.password).status == 200
    stranger = new_visitor().open("/login")
    stranger.visitor.forget("browser")
    assert stranger.press("Sign in", identifier=ada.email, password=ada.password).status == 403


@pytest.mark.parametrize(
    ("path", "headers", "method"),
    [
        ("/login?lang=de", {}, "GET"),
        ("/login?reset=done", {}, "GET"),
        ("/login?attempt=x&needs=method", {}, "GET"),
        ("/login?attempt=unknown", {}, "GET"),
        ("/login/", {}, "GET"),
        ("/profile", {}, "GET"),
        ("/login", {}, "HEAD"),
        ("/login", {}, "POST"),
        ("/login", {"Cookie": "gatehouse-session=of-someone"}, "GET"),
        ("/login", {"Cookie": "gatehouse-accounts=of-someone"}, "GET"),
        ("/login", {"Cookie": "gatehouse-language=de"}, "GET"),
        ("/login", {"Cookie": "gatehouse-method=of-someone"}, "GET"),
        ("/forgot-password", {"Cookie": "gatehouse-identifier=typed-before"}, "GET"),
    ],
)  # fmt: skip
def test_other_requests_pass_through_flask(
    compared: Comparison, path: str, headers: dict[str, str], method: str
) -> None:
    compared.kept("/login", {})
    compared.kept("/forgot-password", {})
    compared.kept(path, headers, method)
    assert not compared.is_kept(path, headers, method)


def test_expired_interaction_passes_through_flask(world: World, compared: Comparison, new_visitor: NewVisitor) -> None:
    visitor = new_visitor()
    path = visitor.authorize(world.application("shop")).address.removeprefix(compared.base_url)
    cookies = cookies_of(visitor)
    assert compared.kept(path, cookies).response.status_code == 200
    assert compared.is_kept(path, cookies)
    other = new_visitor()
    other.authorize(world.application("other"))
    assert not compared.is_kept(path, cookies_of(other)), "another browser's"


def test_login_hint_passes_through_flask(world: World, compared: Comparison, new_visitor: NewVisitor) -> None:
    shop, plain, hinted = world.application("shop"), new_visitor(), new_visitor()
    compared.kept(plain.authorize(shop).address.removeprefix(compared.base_url), cookies_of(plain))
    path = hinted.authorize(shop, login_hint="ada@example.com").address.removeprefix(compared.base_url)
    assert "ada@example.com" in compared.kept(path, cookies_of(hinted)).text
    assert not compared.is_kept(path, cookies_of(hinted))


def test_changed_tenant_is_on_the_next_page(
    world: World, compared: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compared.kept("/register", {}).response.status_code == 200
    assert compared.is_kept("/register", {})
    world.change_brand(display_name="Acme Winter", color="#8a3b12")
    monkeypatch.setattr("app.hub.tenancy.FRESH_SECONDS", -1)  # as if five seconds had passed
    changed = compared.kept("/register", {})
    assert not compared.is_kept("/register", {})
    monkeypatch.undo()
    assert "Acme Winter" in changed.text
    assert "#8a3b12" in compared.kept("/register", {}).text


def test_version_in_an_answer_ends_a_kept_page(world: World, compared: Comparison) -> None:
    """A page that calls the identity service learns of the change at once, and so do all pages of this process."""
    compared.kept("/login", {})
    assert compared.is_kept("/login", {})
    compared.hub.extensions["gatehouse"].tenancy.on_response(
        compared.base_url.partition("://")[2], {"x-gatehouse-tenant-version": "another"}
    )
    assert not compared.is_kept("/login", {})


def test_unknown_host_is_never_kept(compared: Comparison) -> None:
    elsewhere = Comparison(compared.hub, "http://nobody-here.localhost:8000")
    assert elsewhere.kept("/login", {}).response.status_code == 404
    assert not elsewhere.is_kept("/login", {})
