"""Whoever has nothing but another provider proves there that it is still them, where that provider can ask; else by mail."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from app.identity.authentication.federation.providers import openid
from tests.support import upstream
from tests.support.connecting import asked
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import RelyingParty
from tests.support.upstream import FakeProvider
from tests.support.visitor import NewVisitorAt, Seen, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
START, AGAIN = "/sign-in/with?provider=globex", "Is it still you?"
PASSWORD = "Quartz-lantern-58"


@pytest.fixture
def globex(services: Any) -> Iterator[FakeProvider]:
    with upstream.provider(services) as there:
        yield there


@pytest.fixture
def there(new_world: NewWorld, globex: FakeProvider) -> World:
    return new_world(connections={"globex": globex.openid(title="Globex", trusts_email=True)})


@pytest.fixture
def visitor(there: World, new_visitor_at: NewVisitorAt, globex: FakeProvider) -> Visitor:
    someone: Visitor = new_visitor_at(there)
    assert back(someone, globex, START).heading == "Ada Lovelace"
    return someone


def back(visitor: Visitor, globex: FakeProvider, start: str) -> Seen:
    return visitor.open(globex.way_back(visitor.open(start).address))


def ways_to(page: Seen, start: str = "/sign-in/with") -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"]+)"', page.html) if link.startswith(start)]


def way_to(page: Seen) -> str:
    (link,) = ways_to(page)
    return link


def test_the_provider_is_told_to_ask_and_the_person_goes_on(
    there: World, visitor: Visitor, globex: FakeProvider
) -> None:
    there.services.clock.advance(minutes=6)  # type: ignore[attr-defined]  # the tests' clock
    page = visitor.open("/set-password")
    assert page.heading == AGAIN
    led = visitor.open(way_to(page)).address
    assert (asked(led)["prompt"], asked(led)["max_age"]) == ("login", "0")
    page = visitor.open(globex.way_back(led, auth_time=int(there.services.clock.now().timestamp())))
    assert page.press("Save the new password", new_password=PASSWORD).address.endswith("done=password-set")


def test_a_first_sign_in_asks_nothing_that_is_not_wanted(there: World, new_visitor_at: NewVisitorAt) -> None:
    led = new_visitor_at(there).open(START).address
    assert not asked(led).keys() & {"prompt", "max_age"}


def test_a_proof_of_before_is_none(there: World, visitor: Visitor, globex: FakeProvider) -> None:
    there.services.clock.advance(minutes=6)  # type: ignore[attr-defined]  # as above
    globex.claims["auth_time"] = int(there.services.clock.now().timestamp()) - 360
    assert back(visitor, globex, way_to(visitor.open("/set-password"))).heading == AGAIN
    assert visitor.open("/set-password").heading == AGAIN


def test_one_that_cannot_be_told_to_ask_is_a_way_in_all_the_same(
    there: World, visitor: Visitor, globex: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "GOOGLE", globex.url)
    led = visitor.open(START).address
    assert led.startswith(globex.url)
    assert not asked(led).keys() & {"prompt", "max_age"}
    there.services.clock.advance(minutes=6)  # type: ignore[attr-defined]  # as above
    assert ways_to(visitor.open("/set-password")) == []


def tokens_of(visitor: Visitor, shop: RelyingParty) -> dict[str, Any]:
    """What the application gets by leading the browser here and back: nobody presses anything."""
    answer = shop.redeem(visitor.asked_by(shop, scope="openid").query["code"])
    return dict(answer.json or {})


def changes_the_name(there: World, token: str) -> int:
    base = f"http://{there.services.settings.api_hostname}"
    answer = there.wsgi.put(
        "/identity/v2/auth/username",
        query_string={"apikey": there.api_key},
        json={"username": f"ada{secrets.token_hex(4)}"},
        base_url=base,
        headers={"Authorization": f"Bearer {token}"},
    )
    return answer.status_code


def test_an_application_proves_nobody_by_way_of_a_provider(
    there: World, visitor: Visitor, globex: FakeProvider
) -> None:
    """It signs the person out by their id_token, and leads the browser through a provider that lets it in unasked."""
    shop = there.application("shop", interface_access="full", access_token_seconds=3600)
    first = tokens_of(visitor, shop)
    there.services.clock.advance(minutes=15)  # type: ignore[attr-defined]  # the tests' clock
    visitor.open(f"/service/oidc/logout?id_token_hint={first['id_token']}")
    assert visitor.open("/profile").heading == "Welcome back"
    back(visitor, globex, START)
    assert changes_the_name(there, tokens_of(visitor, shop)["access_token"]) == 403


def test_a_provider_that_asks_anew_makes_the_session_fresh(
    there: World, visitor: Visitor, globex: FakeProvider
) -> None:
    shop = there.application("shop", interface_access="full", access_token_seconds=3600)
    token = tokens_of(visitor, shop)["access_token"]
    there.services.clock.advance(minutes=15)  # type: ignore[attr-defined]  # the tests' clock
    globex.claims["auth_time"] = globex.now - 3600
    back(visitor, globex, START)
    assert changes_the_name(there, token) == 403
    globex.claims["auth_time"] = globex.now
    back(visitor, globex, START)
    assert changes_the_name(there, token) == 200
    assert changes_the_name(there, tokens_of(visitor, shop)["access_token"]) == 200
