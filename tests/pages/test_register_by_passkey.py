"""Sign up with a passkey in the place of a password: what is refused before there is one, what waits, and for whom."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest

from app.identity.credentials.tables import credentials
from app.identity.directory.accounts.tables import accounts, waiting_accounts
from app.identity.entry.cleaning import clean
from tests.pages.test_passkeys import sign_in_by_passkey, sign_out
from tests.pages.test_registering_before_the_owner import EMAIL as OWNERS
from tests.pages.test_registering_before_the_owner import FORM, MINE, SQUATTERS, UNLIMITED, rows, sign_up, signed_in
from tests.support.authenticator import Authenticator
from tests.support.captchas import answer_to, asked_on
from tests.support.mailbox import link_in, mails_to
from tests.support.oauth_world import NewWorld, World
from tests.support.visitor import NewVisitorAt, Seen, Visitor

BUTTON = "Create it with a passkey"
ONE_STORE = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
HERS, WRONG = "ada@example.test", "ada@exmaple.test"


@pytest.fixture
def new_there(new_world: NewWorld) -> NewWorld:
    def make(**settings: Any) -> World:
        names = {"email_login": True, "username_login": True, "registration_form": FORM}
        return new_world(**{"passkeys": True, "limits": UNLIMITED, **names, **settings})

    return make


@pytest.fixture
def there(new_there: NewWorld) -> World:
    return new_there()


class Newcomer:
    """Somebody who has no account, with a browser and a device."""

    def __init__(self, there: World, visitor: Visitor, **device: Any) -> None:
        self.there, self.visitor, self.device = there, visitor, Authenticator(visitor.home, **device)

    def asks(self, page: Seen, **typed: str) -> Seen:
        """Ask for options as the script of the page does."""
        return self.visitor.send(
            "POST", f"{self.visitor.home}/register/passkey/options", {**page.form(BUTTON).fields, **typed}
        )

    def signs_up(self, email: str = HERS, page: Seen | None = None, **typed: str) -> Seen:
        page = page or self.visitor.open("/register")
        said = self.asks(page, email=email, **typed)
        assert said.status == 200, said.html
        made = self.device.makes(json.loads(said.html))
        return page.press(BUTTON, email=email, credential=json.dumps(made), **typed)

    def comes(self) -> Seen:
        """Sign in at a shop with the passkey, in a browser that knows nothing more."""
        sign_out(self.visitor)
        return sign_in_by_passkey(self.visitor, self.there, self.device)

    def link(self, email: str = HERS) -> str:
        return link_in(mails_to(self.there.services, self.there.tenant_id, email)[-1])


@pytest.fixture
def new_person(there: World, new_visitor_at: NewVisitorAt) -> Any:
    return lambda: Newcomer(there, new_visitor_at(there))


def test_an_account_is_made_without_a_password_and_opened_by_the_passkey(there: World, new_person: Any) -> None:
    ada: Newcomer = new_person()
    shop = there.application(f"shop{secrets.token_hex(3)}", client_name="Acme Shop")
    page = ada.visitor.asked_by(shop).follow("Create an account")
    waiting = ada.signs_up(page=page, first_name="Ada", password="x", username="ada")
    assert (waiting.heading, HERS in waiting.text) == ("Check your mail", True)
    assert ada.visitor.open(ada.link()).press("Confirm").query["code"], "the browser that made the passkey goes on"
    (account,) = rows(there, accounts)
    assert (account.password_hash, account.profile["FirstName"], account.username) == (None, "Ada", "ada")
    assert ada.comes().query["code"]
    assert "There is none: you sign in without" in ada.visitor.open("/security").text


@ONE_STORE
def test_before_the_proof_it_opens_nothing_and_elsewhere_it_confirms_no_more(new_person: Any) -> None:
    ada, other = new_person(), new_person()
    ada.signs_up()
    refused = ada.comes()
    assert (refused.status, "That passkey did not work" in refused.text) == (403, True)
    assert "data-unknown" not in refused.html, "its manager keeps it"
    done = other.visitor.open(ada.link()).press("Confirm")
    assert (done.heading, other.visitor.cookies("session")) == ("Your address is confirmed", [])
    assert ada.comes().query["code"]


def test_whoever_proves_the_address_is_rid_of_a_strangers_passkey(there: World, new_person: Any) -> None:
    squatter, owner = new_person(), new_person()
    squatter.signs_up(OWNERS, first_name="Eve")
    sign_up(owner.visitor, MINE)
    owner.visitor.open(squatter.link(OWNERS)).press("Confirm")
    (account,) = rows(there, accounts)
    assert (account.email_verified, "FirstName" in account.profile) == (True, False)
    refused = squatter.comes()
    assert (refused.status, "data-unknown" in refused.html) == (403, False), "nor is he told that it is gone"
    assert rows(there, credentials) == []
    sign_out(owner.visitor)
    assert signed_in(owner.visitor, MINE)


def test_the_owners_passkey_shows_whose_registration_is_theirs(there: World, new_person: Any) -> None:
    squatter, owner, elsewhere = new_person(), new_person(), new_person()
    sign_up(squatter.visitor, SQUATTERS)
    owner.signs_up(OWNERS)
    third = new_person()
    third.signs_up(OWNERS)
    mine = [link_in(mail) for mail in mails_to(there.services, there.tenant_id, OWNERS)][1]
    asked = elsewhere.visitor.open(mine).press("Confirm")
    assert "in the browser where you did" in asked.text
    assert asked.press("Confirm", password=SQUATTERS).status == 401
    assert owner.visitor.open(mine).press("Confirm").address.endswith("/profile")
    assert not signed_in(elsewhere.visitor, SQUATTERS)
    assert [third.comes().status, owner.comes().query.get("code") is not None] == [403, True]
    assert len(rows(there, credentials)) == 1, "what waited beside it is gone"


@pytest.mark.parametrize("is_taken", [False, True])
def test_a_mistyped_address_is_changed_and_the_passkey_stays_whoever_has_it(
    there: World, new_person: Any, is_taken: bool
) -> None:
    if is_taken:
        there.person(WRONG)
    ada: Newcomer = new_person()
    waiting = ada.signs_up(WRONG)
    page = waiting.follow("change it").press("Send it there", to=HERS)
    assert (page.heading, HERS in page.text) == ("Check your mail", True)
    assert ada.visitor.open(ada.link()).press("Confirm").address.endswith("/profile")
    assert ada.comes().query["code"]


@pytest.mark.database_alone
def test_what_never_came_to_be_is_forgotten(there: World, new_person: Any) -> None:
    there.person(HERS)
    new_person().signs_up()
    assert [len(rows(there, table)) for table in (waiting_accounts, credentials)] == [1, 1]
    there.services.clock.advance(days=11)
    clean(there.services.database, there.services.clock.now())
    assert [len(rows(there, table)) for table in (waiting_accounts, credentials)] == [0, 0]


@ONE_STORE
def test_what_is_wrong_is_said_before_there_is_a_passkey(new_person: Any) -> None:
    sign_up(new_person().visitor, SQUATTERS, username="grace")
    ada: Newcomer = new_person()
    page = ada.visitor.open("/register")
    for typed, sentence in (
        ({"email": ""}, "Enter your email."),
        ({"email": "no address"}, "This is not an email address."),
        ({"email": HERS, "username": "Grace"}, "Somebody has this one already."),
    ):
        assert (ada.asks(page, **typed).status >= 400, ada.asks(page, **typed).html) == (True, "{}")
        refused = page.press(BUTTON, **typed)
        assert (refused.status >= 400, sentence in refused.text, "Choose a password." in refused.text) == (
            True, True, False,
        )  # fmt: skip
    plain = page.press(BUTTON, email=HERS)
    assert (plain.status, "A passkey needs JavaScript" in plain.text) == (422, True)
    made = plain.press("Create account", email=HERS, password=MINE)
    assert made.heading == "Check your mail", "the password is the way round"


@ONE_STORE
def test_one_that_was_made_for_another_address_or_badly_makes_nothing(there: World, new_person: Any) -> None:
    ada: Newcomer = new_person()
    page = ada.visitor.open("/register")
    options = json.loads(ada.asks(page, email=HERS).html)
    for email, made in (
        (WRONG, ada.device.makes(options)),
        (HERS, ada.device.makes(options, origin="https://evil.example")),
    ):
        refused = page.press(BUTTON, email=email, credential=json.dumps(made))
        assert (refused.status, "That passkey did not work" in refused.text) == (403, True)
    assert rows(there, accounts) == rows(there, credentials) == []


@ONE_STORE
@pytest.mark.parametrize(("verifies", "status"), [(True, 200), (False, 403)])
def test_where_nothing_is_proved_first_one_is_signed_in_at_once(
    new_there: NewWorld, new_visitor_at: NewVisitorAt, verifies: bool, status: int
) -> None:
    there = new_there(email_verification="optional", two_factor="required")
    ada = Newcomer(there, new_visitor_at(there), verifies=verifies)
    page = ada.signs_up()
    assert (page.status, page.address.endswith("/profile")) == (status, verifies), "one that verified counts as two"


@ONE_STORE
def test_a_captcha_is_asked_once(new_there: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    there = new_there(registration_captcha=True)
    ada = Newcomer(there, new_visitor_at(there))
    page = ada.visitor.open("/register")
    assert ada.asks(page, email=HERS, captcha="77").status >= 400
    wrong = page.press(BUTTON, email=HERS, captcha="77")
    answer = str(answer_to(asked_on(wrong, BUTTON)))
    assert ada.signs_up(page=wrong, captcha=answer).heading == "Check your mail"


@ONE_STORE
def test_it_is_offered_where_it_can_sign_in(new_there: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    for settings in ({"passkeys": False}, {"registration_form": [{"name": "username"}, FORM[-1]]}):
        visitor = new_visitor_at(new_there(**settings))
        page = visitor.open("/register")
        assert (page.status, "passkey" in page.html) == (200, False)
        assert (
            visitor.send("POST", f"{visitor.home}/register/passkey/options", page.form("Create account").fields).status
            >= 400
        )
