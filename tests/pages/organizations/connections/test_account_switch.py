"""A sign-in at a provider, which any site can begin, replaces no other account's session without a question (login CSRF)."""

from __future__ import annotations

import pytest

from app.identity.directory.accounts import accounts, linked_identities
from tests.support.oauth.relying_party import Person
from tests.support.organizations.connected_organization import MINA, ConnectedOrganization, NewConnected
from tests.support.tenants.callers import call_of
from tests.support.visitors.visitor import VisitedPage

RETURN_URL = "https://portal.example/after"


@pytest.fixture
def ada(globex: ConnectedOrganization) -> Person:
    """A person who is signed in by a password, in the browser that another site leads to the provider."""
    ada = globex.tenant.person("ada@example.test", FirstName="Ada", LastName="Lovelace")
    globex.visitor.open("/login").sign_in(ada.email, ada.password)
    return ada


def label(globex: ConnectedOrganization) -> str:
    """Return who is signed in."""
    return globex.visitor.open("/profile").profile_name


def test_foreign_link_asks_before_it_switches(globex: ConnectedOrganization, ada: Person) -> None:
    page = globex.sign_in()
    assert page.heading == "Switch accounts?"
    assert ada.email in page.text
    assert MINA["email"] in page.text
    assert label(globex) == "Ada Lovelace"


def test_staying_keeps_the_account(globex: ConnectedOrganization, ada: Person) -> None:
    asked = globex.sign_in()
    assert asked.press("Stay signed in").profile_name == "Ada Lovelace"
    assert asked.press("Switch accounts").profile_name == "Ada Lovelace", "answered before"


def test_switching_signs_in_the_other(globex: ConnectedOrganization, ada: Person) -> None:
    assert globex.sign_in().press("Switch accounts").profile_name == "Mina Harker"
    assert label(globex) == "Mina Harker"


def test_question_comes_again_after_a_reload(globex: ConnectedOrganization, ada: Person) -> None:
    asked = globex.sign_in()
    again = globex.visitor.open(asked.address)
    assert again.heading == "Switch accounts?"
    assert again.press("Switch accounts").profile_name == "Mina Harker"


def test_same_account_is_not_asked(globex: ConnectedOrganization) -> None:
    globex.sign_in()
    assert globex.sign_in(auth_time=globex.provider.now).profile_name == "Mina Harker"


def test_browser_without_a_session_is_not_asked(globex: ConnectedOrganization) -> None:
    assert globex.sign_in().profile_name == "Mina Harker"


def test_question_of_another_browser_is_no_sign_in(globex: ConnectedOrganization, ada: Person) -> None:
    asked = globex.sign_in()
    other = globex.new_visitor_at(globex.tenant)
    assert other.open(asked.address).status == 410
    assert other.open("/profile").is_sign_in


def test_return_address_is_followed_after_the_answer(new_connected: NewConnected) -> None:
    globex = new_connected(settings={"url_whitelist": [RETURN_URL]})
    ada = globex.tenant.person("ada@example.test")
    globex.visitor.open("/login").sign_in(ada.email, ada.password)
    asked = globex.visitor.open(globex.callback(globex.begin(return_url=RETURN_URL)))
    assert asked.heading == "Switch accounts?"
    assert asked.press("Switch accounts").address == RETURN_URL


def at_tenants_provider(globex: ConnectedOrganization) -> VisitedPage:
    redirected = globex.visitor.open("/sign-in/with?provider=google-like")
    claims = {**MINA, "email_verified": True, "sub": "m"}
    return globex.visitor.open(globex.provider.callback_url(redirected.address, **claims))


def test_tenants_provider_asks_too(globex: ConnectedOrganization, ada: Person) -> None:
    globex.provider.known_to(globex.business.tenant, "google-like", trusts_email=True)
    assert at_tenants_provider(globex).heading == "Switch accounts?"
    assert label(globex) == "Ada Lovelace"


def test_application_gets_no_code_of_the_other_account(globex: ConnectedOrganization, ada: Person) -> None:
    shop = globex.tenant.application("shop", client_name="Shop")
    redirected = globex.visitor.authorize(shop, connection=globex.id, prompt="login")
    asked = globex.visitor.open(globex.callback(redirected, auth_time=globex.provider.now))
    assert asked.heading == "Switch accounts?"
    assert "code" in asked.press("Switch accounts").query


def disconnect(globex: ConnectedOrganization) -> None:
    """Remove the identities of Mina's account, as its owner does in another browser."""
    with call_of(globex.tenant.services, globex.tenant.name) as call:
        mina = accounts.by_email(call, MINA["email"])
        assert mina is not None
        for identity in linked_identities.of(mina):
            linked_identities.unlink(call, mina, identity.provider, identity.subject)
        call.work.commit()


def test_disconnected_identity_opens_no_account(globex: ConnectedOrganization, ada: Person) -> None:
    globex.sign_in(globex.new_visitor_at(globex.tenant))
    asked = globex.sign_in()
    disconnect(globex)
    assert asked.press("Switch accounts").profile_name == "Ada Lovelace"
    assert label(globex) == "Ada Lovelace"


@pytest.mark.parametrize("signs_in", [True, False], ids=["another", "nobody"])
def test_next_visitor_answers_no_question(globex: ConnectedOrganization, ada: Person, *, signs_in: bool) -> None:
    asked = globex.sign_in()
    globex.visitor.open("/logout").press("Sign out")
    if signs_in:
        eve = globex.tenant.person("eve@example.test", FirstName="Eve", LastName="Moneypenny")
        globex.visitor.open("/login").sign_in(eve.email, eve.password)
    asked.press("Switch accounts")
    assert "Mina Harker" not in globex.visitor.open("/profile").text
