"""Sign-in through another provider on our pages: who is let in, into which account, and what nobody learns by it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.support.mailbox import code_in, mails_to
from tests.support.oauth_world import NewWorld, World
from tests.support.upstream import FakeProvider
from tests.support.visitor import Seen, Visitor

ADA: dict[str, Any] = {
    "email": "ada@example.test",
    "email_verified": True,
    "given_name": "Ada",
    "family_name": "Lovelace",
}
START = "/sign-in/with?provider=globex"


@pytest.fixture
def new_there(new_world: NewWorld, elsewhere: FakeProvider) -> NewWorld:
    def make(*, trusts: bool = True, **settings: Any) -> World:
        return new_world(connections={"globex": elsewhere.openid(title="Globex", trusts_email=trusts)}, **settings)

    return make


class Traveller:
    """Somebody with a browser here and an account at the provider."""

    def __init__(self, there: World, visitor: Visitor, elsewhere: FakeProvider) -> None:
        self.there, self.visitor, self.elsewhere = there, visitor, elsewhere

    def comes(self, subject: str = "1", *, start: str = START, **claims: Any) -> Seen:
        """Go to the provider and come back signed in there."""
        led = self.visitor.open(start)
        return self.visitor.open(self.elsewhere.way_back(led.address, **{**ADA, "sub": subject, **claims}))

    def denied(self, led: Seen) -> str:
        """Say no there, and return where the browser goes back to."""
        return f"{self.visitor.home}/socialauth/validate.sauth?{urlencode(self.elsewhere.refuses(led.address))}"

    @property
    def is_in(self) -> bool:
        return self.visitor.open("/profile").heading != "Welcome back"


@pytest.fixture
def traveller(new_there: NewWorld, new_visitor_at: Any, elsewhere: FakeProvider) -> Traveller:
    there = new_there()
    return Traveller(there, new_visitor_at(there), elsewhere)


def test_whoever_is_new_is_registered_and_comes_back_to_the_same_account(traveller: Traveller) -> None:
    page = traveller.comes()
    assert page.heading == "Ada Lovelace", page.text
    assert told_of(traveller) == []
    traveller.visitor.forget("session")
    assert traveller.comes(email="ada@another.test").heading == "Ada Lovelace"


def sent(traveller: Traveller, address: str = ADA["email"]) -> list[dict[str, Any]]:
    return mails_to(traveller.there.services, traveller.there.tenant_id, address)


def told_of(traveller: Traveller) -> list[str]:
    """The mails that tell of a connected account."""
    subjects = (str(mail["subject"]).partition(" at ")[0] for mail in sent(traveller))
    return [subject for subject in subjects if "connected" in subject]


def test_an_account_with_the_address_is_opened_where_the_provider_is_trusted(traveller: Traveller) -> None:
    ada = traveller.there.person(ADA["email"])
    assert traveller.comes().heading == ada.email
    assert told_of(traveller) == ["An account was connected to yours"]
    traveller.visitor.forget("session")
    assert traveller.comes(email="ada@another.test", email_verified=False).heading == ada.email


def test_an_unproved_address_at_the_provider_proves_nothing_here(traveller: Traveller) -> None:
    traveller.there.person(ADA["email"])
    page = traveller.comes(email_verified=False)
    assert page.heading == "Create your account"
    assert not traveller.is_in


@pytest.fixture
def doubted(new_there: NewWorld, new_visitor_at: Any, elsewhere: FakeProvider) -> Traveller:
    there = new_there(trusts=False)
    return Traveller(there, new_visitor_at(there), elsewhere)


def test_whose_address_it_is_is_not_told_where_the_provider_is_not_trusted(doubted: Traveller) -> None:
    """The page, and what it answers to a registration, are the same for an address that somebody has."""
    free = doubted.comes("2", email="free@example.test")
    after_free = free.press("Create account", email="free@example.test")
    doubted.there.person(ADA["email"])
    doubted.visitor.forget("attempt")
    taken = doubted.comes("3")
    assert taken.says(ADA["email"]) == free.says("free@example.test")
    after_taken = taken.press("Create account", email=ADA["email"])
    assert after_taken.says(ADA["email"]) == after_free.says("free@example.test")
    assert not doubted.is_in


def test_whoever_is_new_there_proves_the_mailbox_and_has_no_password(doubted: Traveller) -> None:
    page = doubted.comes()
    assert page.form("Create account").fields["email"] == ADA["email"]
    assert "password" not in page.form("Create account").fields
    page = page.press("Create account")
    assert page.heading == "Check your mail"
    assert page.press("Confirm", code=code_in(sent(doubted)[-1])).heading == "Ada Lovelace"
    assert told_of(doubted) == []
    doubted.visitor.forget("session")
    assert doubted.comes(email="other@example.test").heading == "Ada Lovelace"


def test_whoever_has_an_account_signs_in_once_and_it_is_connected(doubted: Traveller) -> None:
    ada = doubted.there.person(ADA["email"])
    login = doubted.comes().follow("Sign in")
    assert login.press("Sign in", identifier=ada.email, password=ada.password).heading == ada.email
    doubted.visitor.forget("session")
    assert doubted.comes().heading == ada.email


def test_it_is_connected_to_nobody_else(doubted: Traveller) -> None:
    """Somebody else's browser may have brought it: only the account with the very address takes it."""
    eve = doubted.there.person("eve@example.test")
    login = doubted.comes().follow("Sign in")
    assert login.press("Sign in", identifier=eve.email, password=eve.password).heading == eve.email
    doubted.visitor.forget("session")
    assert doubted.comes().heading == "Create your account"


def test_whom_the_application_expects_is_told_there(traveller: Traveller) -> None:
    shop = traveller.there.application("shop", client_name="Acme Shop")
    page = traveller.visitor.asked_by(shop, login_hint=ADA["email"])
    assert parse_qs(urlsplit(page.follow("Continue with Globex").address).query)["login_hint"] == [ADA["email"]]
    assert "login_hint" not in traveller.visitor.open(START).address


def test_who_says_no_there_is_told_and_goes_on(traveller: Traveller) -> None:
    led = traveller.visitor.open(START)
    page = traveller.visitor.open(traveller.denied(led))
    assert "You are not signed in" in page.text
    assert traveller.visitor.open(traveller.denied(led)).heading == "Welcome back"


def test_what_cannot_be_believed_is_told(traveller: Traveller) -> None:
    led = traveller.visitor.open(START)
    page = traveller.visitor.open(traveller.elsewhere.way_back(led.address, sub=""))
    assert "That way does not work now" in page.text


def test_an_answer_counts_once(traveller: Traveller) -> None:
    led = traveller.visitor.open(START)
    back = traveller.elsewhere.way_back(led.address, **ADA)
    assert traveller.visitor.open(back).heading == "Ada Lovelace"
    traveller.visitor.forget("session")
    assert traveller.visitor.open(back).status == 410


def test_nobody_is_signed_in_to_who_began_it_elsewhere(traveller: Traveller, new_visitor_at: Any) -> None:
    """An attacker's answer in another browser signs nobody in there (RFC 6749 section 10.12)."""
    led = traveller.visitor.open(START)
    back = traveller.elsewhere.way_back(led.address, **ADA)
    other = new_visitor_at(traveller.there)
    assert other.open(back).status == 410
    assert not other.cookies("session")
    assert traveller.visitor.open(back).heading == "Ada Lovelace"


def test_where_nobody_registers_whoever_is_unknown_is_told_so(
    new_there: NewWorld, new_visitor_at: Any, elsewhere: FakeProvider
) -> None:
    there = new_there(registration=False)
    assert "Nobody here is connected" in Traveller(there, new_visitor_at(there), elsewhere).comes().text


def test_a_provider_that_is_not_there_is_none(traveller: Traveller) -> None:
    page = traveller.visitor.open("/sign-in/with?provider=initech")
    assert (page.status, page.heading) == (403, "That way to sign in is not set up")


def test_a_second_factor_is_asked_after_it(new_there: NewWorld, new_visitor_at: Any, elsewhere: FakeProvider) -> None:
    there = new_there(two_factor="required", second_factors={"email": False, "passkey": False})
    there.person(ADA["email"])
    traveller = Traveller(there, new_visitor_at(there), elsewhere)
    assert "app" in traveller.comes().text
    assert not traveller.is_in


def test_whoever_is_signed_in_is_asked_anew_there_to_prove_it_once_more(traveller: Traveller) -> None:
    """A browser that the provider lets in by itself proves nothing of who sits there now."""
    there, visitor = traveller.there, traveller.visitor
    traveller.comes()
    there.services.clock.advance(minutes=10)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    shop = there.application("shop", client_name="Acme Shop")
    page = visitor.asked_by(shop, prompt="login")
    assert page.heading == "Is it still you?"
    led = page.follow("Continue with Globex")
    assert ("prompt=login" in led.address, "max_age=0" in led.address) == (True, True)
    page = visitor.open(traveller.elsewhere.way_back(led.address, **ADA, sub="1"))
    assert "That was no new proof" in page.text
    led = page.follow("Continue with Globex")
    now = int(there.services.clock.now().timestamp())
    page = visitor.open(traveller.elsewhere.way_back(led.address, **ADA, sub="1", auth_time=now))
    assert "code" in page.query


def test_coming_back_from_there_makes_a_session_no_younger(traveller: Traveller) -> None:
    traveller.comes()
    traveller.there.services.clock.advance(minutes=10)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    assert traveller.comes().heading == "Ada Lovelace"
    assert traveller.visitor.open("/emails/add").heading == "Is it still you?"


def test_an_address_that_the_tenant_does_not_take_is_told(
    new_there: NewWorld, new_visitor_at: Any, elsewhere: FakeProvider
) -> None:
    there = new_there(email_access={"block": ["example.test"]})
    assert "This address may not be used here" in Traveller(there, new_visitor_at(there), elsewhere).comes().text


def test_without_a_proof_of_the_mailbox_whoever_registers_is_in_at_once(
    new_there: NewWorld, new_visitor_at: Any, elsewhere: FakeProvider
) -> None:
    there = new_there(trusts=False, email_verification="optional")
    traveller = Traveller(there, new_visitor_at(there), elsewhere)
    assert traveller.comes().press("Create account").heading == "Ada Lovelace"
    traveller.visitor.forget("session")
    assert traveller.comes().heading == "Ada Lovelace"


def test_what_is_wrong_in_the_form_is_said_with_what_was_typed(doubted: Traveller) -> None:
    page = doubted.comes().press("Create account", email="no address")
    assert (page.status, page.form("Create account").fields["email"]) == (400, "no address")
    assert "Globex told us who you are" in page.text
    assert page.press("Create account", email=ADA["email"]).heading == "Check your mail"
