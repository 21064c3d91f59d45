"""Sign-in with Apple in a browser: a posted callback, with the person's name after the first consent only."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from app.identity.directory.accounts import accounts, linked_identities
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import NewWorld, World
from tests.support.refused_answers.providers import ConnectedProvider, connected
from tests.support.refused_answers.visits import CALLBACK
from tests.support.tenants.callers import call_of
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases
USER = json.dumps({"name": {"firstName": "Ada", "lastName": "Lovelace"}, "email": "root@acme.test"})


@pytest.fixture
def apple(fake_provider: FakeProvider) -> ConnectedProvider:
    return connected("apple", fake_provider, trusts_email=True)


@pytest.fixture
def tenant(new_world: NewWorld, apple: ConnectedProvider) -> World:
    world = new_world()
    apple.store(world)
    return world


def comes_back(visitor: Visitor, apple: ConnectedProvider, **posted: Any) -> VisitedPage:
    """Sign in at Apple, whose page posts the answer from its own site: the browser sends no cookies along."""
    led = visitor.open("/sign-in/with?provider=apple")
    return visitor.send("POST", visitor.home + CALLBACK, {**apple.signs_in(led.address), **posted})


def linked_names(tenant: World) -> list[str | None]:
    with call_of(tenant.services, tenant.name) as call:
        account = accounts.by_email(call, "ada@example.test")
        return [identity.name for identity in linked_identities.of(account)] if account is not None else []


def test_name_of_the_first_sign_in_stays(tenant: World, apple: ConnectedProvider, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(tenant)
    page = comes_back(visitor, apple, user=USER)
    assert page.profile_name == "Ada Lovelace", page.text
    assert "?" not in page.address, "the address has nothing of the answer"
    visitor.forget("session")
    assert comes_back(visitor, apple).profile_name == "Ada Lovelace"
    assert linked_names(tenant) == ["Ada Lovelace"]


def test_posted_address_is_never_taken(tenant: World, apple: ConnectedProvider, new_visitor_at: NewVisitorAt) -> None:
    root = tenant.person("root@acme.test")
    visitor = new_visitor_at(tenant)
    comes_back(visitor, apple, user=USER)
    assert root.email not in visitor.open("/profile").text
    assert linked_names(tenant) == ["Ada Lovelace"]


def test_name_in_the_address_is_ignored(tenant: World, apple: ConnectedProvider, new_visitor_at: NewVisitorAt) -> None:
    """Anyone can write an address; Apple posts the name."""
    visitor = new_visitor_at(tenant)
    led = visitor.open("/sign-in/with?provider=apple")
    visitor.open(f"{visitor.home}{CALLBACK}?{urlencode({**apple.signs_in(led.address), 'user': USER})}")
    assert linked_names(tenant) == [None]


def test_posted_name_of_another_state_is_ignored(
    tenant: World, apple: ConnectedProvider, new_visitor_at: NewVisitorAt
) -> None:
    eve, visitor = new_visitor_at(tenant), new_visitor_at(tenant)
    led = eve.open("/sign-in/with?provider=apple")
    posted = eve.client.post(CALLBACK, base_url=eve.home, data={**apple.signs_in(led.address), "user": USER})
    hers = dict(parse_qsl(urlsplit(posted.headers["Location"]).query))["user"]
    mine = apple.signs_in(visitor.open("/sign-in/with?provider=apple").address)
    visitor.open(f"{visitor.home}{CALLBACK}?{urlencode({**mine, 'user': hers})}")
    assert linked_names(tenant) == [None]


def test_posted_name_changes_no_account_that_exists(
    tenant: World, apple: ConnectedProvider, new_visitor_at: NewVisitorAt
) -> None:
    visitor = new_visitor_at(tenant)
    assert comes_back(visitor, apple, user=USER).profile_name == "Ada Lovelace"
    visitor.forget("session")
    eve = json.dumps({"name": {"firstName": "Eve", "lastName": "Adams"}})
    assert comes_back(visitor, apple, user=eve).profile_name == "Ada Lovelace"
    assert linked_names(tenant) == ["Ada Lovelace"]


def test_posted_name_is_not_linked_with_it(
    tenant: World, apple: ConnectedProvider, new_visitor_at: NewVisitorAt
) -> None:
    ada, visitor = tenant.person("ada@example.test", FirstName="Augusta"), new_visitor_at(tenant)
    comes_back(visitor, apple, user=USER).press("Sign in", password=ada.password)
    assert linked_names(tenant) == [None]
    assert "Augusta" in visitor.open("/profile").text


def test_posted_callback_of_another_browser_is_refused(
    tenant: World, apple: ConnectedProvider, new_visitor_at: NewVisitorAt
) -> None:
    led = new_visitor_at(tenant).open("/sign-in/with?provider=apple")
    other = new_visitor_at(tenant)
    page = other.send("POST", other.home + CALLBACK, {**apple.signs_in(led.address), "user": USER})
    assert page.status == 410


def test_repeated_name_is_refused(tenant: World, apple: ConnectedProvider, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(tenant)
    page = comes_back(visitor, apple, user=[USER, USER])
    assert "Sign-in canceled" in page.text
    assert linked_names(tenant) == []


@pytest.mark.parametrize(
    ("app_name", "leads"), [("google-shop", True), ("GOOGLE-shop", True), ("globex", False), ("x", False)]
)
def test_program_names_one_app_of_a_provider(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider, app_name: str, leads: bool
) -> None:
    world = new_world(url_whitelist=["https://shop.example"])
    google = connected("google", fake_provider).connection
    world.change_settings(
        connections={"google": {**google, "key": "main"}, "google-shop": google, "globex": fake_provider.openid()}
    )
    query = f"provider=google&callback=https://shop.example/back&socialappname={app_name}"
    page = new_visitor_at(world).open(f"/RequestHandler.aspx?{query}")
    assert ("client_id=gatehouse-of-acme" in page.address) is leads
    assert (page.status == 403) is not leads
