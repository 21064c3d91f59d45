"""Two visits in a row, in every order: the second gets the page that it gets alone, whatever the first one filled caches with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from flask import Flask
from werkzeug.test import Client

from app.hub.forms import tenant_forms
from app.hub.rendering import environment
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.comparable_pages import ComparableAnswer
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Visitor

PATHS = ("/login", "/register", "/forgot-password", "/sign-in/mail")
HEADERS: Mapping[str, Mapping[str, str]] = {
    "plain": {},
    "German": {"Accept-Language": "de-CH,ar;q=0.8"},
    "Arabic": {"Accept-Language": "ar"},
    "gzip": {"Accept-Encoding": "gzip"},
    "returning browser": {"Cookie": "gatehouse-browser=an-older-secret-0123456789"},
    "chosen secret": {"Cookie": "gatehouse-browser=form-action"},
    "language": {"Cookie": "gatehouse-language=de"},
    "last method": {"Cookie": "gatehouse-method=password"},
    "session": {"Cookie": "gatehouse-session=of-someone"},
    "other cookies": {"Cookie": 'theme="><script>'},
    "telephone": {"User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) Mobile Safari/604.1"},
    "forwarded": {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "Forwarded": "host=evil.example"},
    "origin": {"Origin": "https://evil.example", "Referer": "https://evil.example/?<b>"},
}
QUERIES = (
    "lang=ar",
    "reset=done",
    "methods=all",
    "needs=method",
    "x=<b>",
    "attempt=unknown",
    "login_hint=eve@evil.example",
)
AUTHORIZATION_PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "application": {},
    "pop-up": {"display": "popup"},
    "languages": {"ui_locales": "ar"},
    "hint": {"login_hint": "ada@example.com"},
}


@dataclass
class ComparedVisit:
    """What one browser asks for."""

    base_url: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def open(self, hub: Flask, path: str) -> tuple[int, list[tuple[str, str]], str]:
        """Return the response without the values of this visit and its cost."""
        client = Client(hub, use_cookies=False)
        answer = client.get(path, query_string=self.query, base_url=self.base_url, headers=dict(self.headers))
        status, headers, text = ComparableAnswer(answer).comparable
        return status, [header for header in headers if header[0] != "X-Gatehouse-Cost"], text


@dataclass
class CachingHub:
    """The hub, whose caches can be emptied."""

    app: Flask

    def empty(self) -> None:
        self.app.extensions["gatehouse"].cached_pages.clear()
        self.app.extensions["gatehouse.fragments"].clear()
        tenant_forms._kinds.clear()
        environment._cached_macro.cache_clear()

    def fills(self, visit: ComparedVisit, path: str) -> bool:
        """Return whether a visit leaves something in the caches."""
        self.empty()
        visit.open(self.app, path)
        return bool(self.app.extensions["gatehouse"].cached_pages.values())


def _settings() -> dict[str, object]:
    return {"passkeys": True, "passwordless_email": True}


def of_applications(world: World, hub: Flask) -> Iterator[tuple[str, ComparedVisit]]:
    """Yield visits that applications sent, each with its own cookies."""
    home = world.services.settings.hub_url(world.name)
    shops = [
        world.application(
            "one", client_name="Shop", tos_uri="https://one.example", logo_uri="https://one.example/l.png"
        ),
        world.application("two", client_name="Shop", redirect_uris=["com.example.two:/cb"], application_type="native"),
    ]
    for shop in shops:
        for name, item in AUTHORIZATION_PARAMETERS.items():
            visitor = Visitor(PlainClient(hub), home)
            query = urlsplit(visitor.authorize(shop, **item).address).query
            stored = (visitor.client._cookies or {}).values()
            cookies = "; ".join(f"{cookie.key}={cookie.value}" for cookie in stored)
            yield f"{shop.name}, {name}", ComparedVisit(home, query, {"Cookie": cookies})


@pytest.fixture
def visits(new_world: NewWorld, hub_app: Flask) -> dict[str, ComparedVisit]:
    world, other = new_world(**_settings()), new_world(**_settings())
    other.change_brand(display_name="Other Winter", color="#8a3b12")
    settings = world.services.settings
    home = settings.hub_url(world.name)
    found = {name: ComparedVisit(home, headers=headers) for name, headers in HEADERS.items()}
    found |= {query: ComparedVisit(home, query) for query in QUERIES}
    found |= {
        "TLS": ComparedVisit(home.replace("http:", "https:")),
        "capitals": ComparedVisit(home.replace(world.name, world.name.upper())),
    }
    found |= {
        "custom domain": ComparedVisit(settings.custom_url(world.add_custom_domain())),
        "tenant": ComparedVisit(settings.hub_url(other.name)),
    }
    found |= {"German, tenant": ComparedVisit(settings.hub_url(other.name), headers=HEADERS["German"])}
    return found | dict(of_applications(world, hub_app))


@pytest.mark.parametrize("path", PATHS)
def test_second_page_is_the_one_that_it_is_alone(
    hub_app: Flask, visits: dict[str, ComparedVisit], subtests: pytest.Subtests, path: str
) -> None:
    hub, alone = CachingHub(hub_app), {}
    for name, visit in visits.items():
        hub.empty()
        alone[name] = visit.open(hub_app, path)
    assert sum(hub.fills(visit, path) for visit in visits.values()) > len(visits) // 2
    for first, visit in visits.items():
        with subtests.test(f"{path} after {first}"):
            hub.empty()
            for _ in range(2):
                visit.open(hub_app, path)
            different = [name for name, item in visits.items() if item.open(hub_app, path) != alone[name]]
            assert different == []
