"""Account pages without a session: a sign-in that returns to the page."""

import pytest

from app.hub.account_pages import LANDINGS, is_landing
from tests.support.journeys.account_security import signed_in
from tests.support.oauth.relying_party import Person
from tests.support.visitors.visitor import Visitor


def test_every_account_page_returns_to_an_account_page(visitor: Visitor) -> None:
    visitor.open("/profile")  # imports the deferred pages
    assert {landing.address for landing in LANDINGS.values() if not is_landing(landing.address)} == set()


def test_every_account_page_begins_a_sign_in_without_a_session(visitor: Visitor) -> None:
    visitor.open("/profile")
    own = [address for address, landing in LANDINGS.items() if landing.address == address]
    pages = {address: visitor.open(address) for address in own}
    offered = {address: page for address, page in pages.items() if page.status != 404}  # the tenant has no passkeys
    assert len(offered) > 30
    assert {address: page.heading for address, page in offered.items() if "/login" not in page.address} == {}


@pytest.mark.parametrize("address", ["/consents", "/username"])
def test_sign_in_returns_to_the_account_page(visitor: Visitor, ada: Person, address: str) -> None:
    assert signed_in(visitor, ada, address).address.endswith(address)


@pytest.mark.parametrize("value", ["..%2F", "a&next=x", "a" * 65, "%0d%0a", "é"])
def test_strange_parameter_is_left_out(visitor: Visitor, ada: Person, value: str) -> None:
    assert signed_in(visitor, ada, f"/organizations/leave?id={value}").address.endswith("/organizations")


@pytest.mark.parametrize(
    "address",
    ["/login", "//evil.example", "/passkeys/edit?kind=x", "/profile?id=x", "/consents?id=x&id=y", "/phone/confirm", ""],
)
def test_other_addresses_are_no_landing(visitor: Visitor, address: str) -> None:
    visitor.open("/profile")
    assert not is_landing(address)


def test_form_without_a_session_returns_to_its_page(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/username")
    visitor.forget("session")
    sign_in = page.press("Save", username="countess")
    assert sign_in.press("Sign in", identifier=ada.email, password=ada.password).address.endswith("/username")
