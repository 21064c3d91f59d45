"""The methods of sign-in on the login page: their order, and the method that this browser used last."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from tests.support.accounts.mailbox import code_in, link_in, mails_to
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.federated_sign_in import link_identity
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor, words

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # the database plays no part
ADA = "ada@example.test"
START = "/sign-in/with?provider=globex"
MANY = {f"provider{number}": f"Provider {number}" for number in range(1, 9)}


@pytest.fixture
def world(new_world: NewWorld, fake_provider: FakeProvider) -> World:
    connections = {"globex": fake_provider.openid(title="Globex", trusts_email=True)}
    return new_world(connections=connections, passwordless_email=True)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def shown_methods(page: VisitedPage) -> list[str]:
    """Return the texts of the sign-in methods in the order of the page; the password form's button stands among them."""
    found = re.findall(
        r'<(?:a|button)[^>]* class="(?:method|button)[^"]*"[^>]*>(.*?)</(?:a|button)>', page.html, re.DOTALL
    )
    return [words(text) for text in found]


@pytest.fixture
def sign_in_at_globex(visitor: Visitor, fake_provider: FakeProvider) -> Callable[[], VisitedPage]:
    """Sign in at the provider and sign out again; returns the login page."""

    def sign_in() -> VisitedPage:
        redirected = visitor.open(START)
        visitor.open(fake_provider.callback_url(redirected.address, sub="1", email=ADA, email_verified=True))
        visitor.open("/logout").press("Sign out")
        return visitor.open("/login")

    return sign_in


def test_without_history_providers_stand_first(visitor: Visitor) -> None:
    assert shown_methods(visitor.open("/login")) == ["Continue with Globex", "Sign in", "Get an email link"]


def test_method_used_last_stands_first_and_is_marked(
    world: World, visitor: Visitor, sign_in_at_globex: Callable[[], VisitedPage]
) -> None:
    assert shown_methods(sign_in_at_globex()) == ["Continue with Globex Last used", "Sign in", "Get an email link"]
    visitor.open("/sign-in/mail").press("Email me a link", identifier=ADA).press(
        "Sign in", code=code_in(mails_to(world.services, world.tenant_id, ADA)[-1])
    )
    visitor.open("/logout").press("Sign out")
    assert shown_methods(visitor.open("/login"))[0] == "Get an email link Last used"


def test_begun_method_is_not_the_last_used(visitor: Visitor, sign_in_at_globex: Callable[[], VisitedPage]) -> None:
    """A requested message or a visited provider is no sign-in."""
    visitor.open("/sign-in/mail").press("Email me a link", identifier=ADA)
    assert "Last used" not in visitor.open("/login").html
    sign_in_at_globex()
    visitor.open("/sign-in/mail").press("Email me a link", identifier=ADA)
    assert shown_methods(visitor.open("/login"))[0] == "Continue with Globex Last used"


def test_link_marks_the_browser_that_used_it(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt) -> None:
    world.person(ADA)
    visitor.open("/sign-in/mail").press("Email me a link", identifier=ADA)
    other, parts = new_visitor_at(world), urlsplit(link_in(mails_to(world.services, world.tenant_id, ADA)[-1]))
    other.open(f"{parts.path}?{parts.query}").press("Sign in here")
    assert other.cookie("method").value == "mail"
    assert visitor.cookie("method").value == "!mail"


def test_sign_up_is_no_sign_in_by_a_begun_method(world: World, visitor: Visitor) -> None:
    visitor.open("/sign-in/with?provider=globex")
    visitor.open("/register").press("Create account", email=ADA, password="Zebra-kettle-91")
    assert visitor.cookie("method").value == "!password"


def test_password_used_last_marks_nothing(
    world: World, visitor: Visitor, sign_in_at_globex: Callable[[], VisitedPage]
) -> None:
    ada = world.person(ADA)
    link_identity(world, ada, subject="1")
    sign_in_at_globex()
    visitor.open("/login").press("Sign in", identifier=ADA, password=ada.password)
    visitor.open("/logout").press("Sign out")
    assert shown_methods(visitor.open("/login")) == ["Continue with Globex", "Sign in", "Get an email link"]


def test_wrong_password_changes_no_order(
    world: World, visitor: Visitor, sign_in_at_globex: Callable[[], VisitedPage]
) -> None:
    link_identity(world, world.person(ADA), subject="1")
    sign_in_at_globex()
    refused = visitor.open("/login").press("Sign in", identifier=ADA, password="Wrong-kettle-91")
    assert shown_methods(refused)[0] == "Continue with Globex Last used"


def test_cookie_names_the_method_and_no_account(world: World, visitor: Visitor) -> None:
    """Known and unknown addresses leave the same cookie, so a shared browser does not reveal who has an account."""
    world.person(ADA)
    left = set()
    for address in (ADA, "absent@example.test"):
        visitor.open("/sign-in/mail").press("Email me a link", identifier=address)
        left.add(visitor.cookie("method").value)
    assert left == {"!mail"}
    assert visitor.cookie("method").http_only


@pytest.mark.parametrize(
    ("settings", "mark"),
    [
        ({"title": "Staff", "issuer": "https://accounts.google.com"}, "#4285f4"),
        ({"title": "Google", "issuer": "https://accounts.google.com.evil.example"}, 'data-initial="G"'),
        ({"title": "Google", "issuer": "https://evil.example/accounts.google.com"}, 'data-initial="G"'),
    ],
)
def test_mark_follows_the_address_of_the_provider(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, settings: dict[str, str], mark: str
) -> None:
    """A connection's name and title are free text: a foreign provider must not bear a well-known mark."""
    page = new_visitor_at(new_world(connections={"google": {"key": "k", **settings}})).open("/login")
    assert mark in page.html
    assert ("#4285f4" in page.html) is (mark == "#4285f4")


@pytest.mark.parametrize(
    "value", ["connection:unknown", "sms", "<script>", "x" * 4_000, "connection:globex\n", "!connection:globex"]
)
def test_forged_cookie_marks_nothing(visitor: Visitor, value: str) -> None:
    visitor.client.set_cookie("gatehouse-method", value, domain=visitor.home.split("//")[1].partition(":")[0])
    page = visitor.open("/login")
    assert "Last used" not in page.html
    assert shown_methods(page) == ["Continue with Globex", "Sign in", "Get an email link"]


def test_other_browser_sees_no_history(
    world: World, new_visitor_at: NewVisitorAt, sign_in_at_globex: Callable[[], VisitedPage]
) -> None:
    """The login page is cached by the hub: one browser's order must not reach another."""
    assert "Last used" in sign_in_at_globex().html
    assert "Last used" not in new_visitor_at(world).open("/login").html


def test_more_than_three_providers_stand_below_the_form(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    connections = {name: fake_provider.openid(title=title) for name, title in MANY.items()}
    visitor = new_visitor_at(new_world(connections=connections, passwordless_email=True))
    page = visitor.open("/login")
    providers = [f"Continue with {title}" for title in MANY.values()]
    assert shown_methods(page) == [*providers[:3], "Sign in", "Get an email link", *providers[3:]]
    assert (
        page.html.index('<details class="more">') < page.html.index("Get an email link") < page.html.index("</details>")
    )
