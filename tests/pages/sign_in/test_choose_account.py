"""The page that chooses an account of those that the browser is signed in to."""

from __future__ import annotations

import pytest

from tests.support.oauth.relying_party import Person, RelyingParty, claims_in
from tests.support.oauth.world import World
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor

PASSWORD = "correct horse 7"
OTHERS = "gatehouse-accounts"


@pytest.fixture
def shop(world: World) -> RelyingParty:
    return world.application("shop", client_name="Acme Shop")


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada", LastName="Lovelace", FullName="Ada Lovelace")


@pytest.fixture
def grace(world: World) -> Person:
    return world.person("grace@example.com")


def sign_in(page: VisitedPage, person: Person) -> VisitedPage:
    return page.press("Sign in", identifier=person.email, password=PASSWORD)


def with_both(visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person) -> VisitedPage:
    """Return the page of a browser that is signed in to both accounts, Grace's last."""
    sign_in(visitor.authorize(shop), ada)
    login = visitor.authorize(shop, prompt="select_account").press("Use another account")
    assert login.is_sign_in
    assert sign_in(login, grace).query["code"]
    return visitor.authorize(shop, prompt="select_account")


def email_of(shop: RelyingParty, back: VisitedPage) -> str:
    body = shop.redeem(back.query["code"]).json or {}
    return str((shop.userinfo(body["access_token"]).json or {})["email"])


def test_page_names_the_accounts_and_the_application(
    visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person
) -> None:
    page = with_both(visitor, shop, ada, grace)
    assert page.heading == "Choose an account"
    assert "Continue to Acme Shop with:" in page.text
    assert page.text.index(grace.email) < page.text.index(ada.email) < page.text.index("Ada Lovelace")
    assert "Use another account" in page.text


def test_chosen_account_gets_the_code_and_the_account_pages(
    visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person
) -> None:
    page = with_both(visitor, shop, ada, grace)
    assert grace.email in visitor.open("/profile").text
    assert email_of(shop, page.press(ada.email)) == ada.email
    assert "Ada Lovelace" in visitor.open("/profile").text
    assert email_of(shop, visitor.authorize(shop, login_hint=grace.email)) == grace.email
    assert "Ada Lovelace" in visitor.open("/profile").text  # a hint leaves the current account


def test_sign_out_of_one_account_keeps_the_other(
    visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person
) -> None:
    page = with_both(visitor, shop, ada, grace)
    left = page.press(f"Sign out of {ada.email}")
    assert left.heading == "Choose an account"
    assert ada.email not in left.text
    assert visitor.cookies(OTHERS) == []
    assert email_of(shop, left.press(grace.email)) == grace.email


def test_sign_out_everywhere_of_profile_keeps_the_other(
    visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person
) -> None:
    with_both(visitor, shop, ada, grace)
    visitor.open("/logout").press("Sign out")
    page = visitor.authorize(shop)
    assert page.heading == "Choose an account"
    assert ada.email in page.text
    assert grace.email not in page.text


def test_cookie_is_closed_to_scripts_and_other_sites(
    visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person
) -> None:
    with_both(visitor, shop, ada, grace)
    cookie = visitor.cookie(OTHERS)
    assert cookie.http_only
    assert cookie.same_site == "Lax"
    assert cookie.path == "/"


def test_swapped_cookies_open_no_other_account(
    visitor: Visitor, new_visitor: NewVisitor, shop: RelyingParty, ada: Person, grace: Person
) -> None:
    """Each cookie has whole sessions only; a forged or repeated one adds nothing to the page."""
    with_both(visitor, shop, ada, grace)
    session, host = visitor.session_cookie, visitor.home.partition("://")[2].partition(":")[0]
    for forged in ("x.y.z", f"{session}.{session}", "." * 300, "a" * 4000):
        visitor.client.set_cookie(OTHERS, forged, domain=host)
        page = visitor.authorize(shop, prompt="select_account")
        assert page.heading == "Choose an account"
        assert ada.email not in page.text
        assert page.text.count(grace.email) == 2  # the row, and its sign-out


def test_form_without_token_changes_nothing(visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person) -> None:
    page = with_both(visitor, shop, ada, grace)
    refused = page.press(f"Sign out of {ada.email}", token="forged")
    assert refused.status == 403
    assert refused.heading == "Choose an account"
    assert ada.email in refused.text


def test_page_without_interaction_is_gone(visitor: Visitor, shop: RelyingParty, ada: Person) -> None:
    sign_in(visitor.authorize(shop), ada)
    assert visitor.open("/choose-account").status == 410


def test_subject_of_tokens_follows_the_choice(visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person) -> None:
    page = with_both(visitor, shop, ada, grace)
    code = page.press(ada.email).query["code"]
    assert claims_in((shop.redeem(code).json or {})["id_token"])["sub"] == ada.uid


def test_consent_of_a_page_is_given_by_the_account_it_shows(
    world: World, visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person
) -> None:
    """The choice in another tab changes whose session the form would use."""
    chooser = with_both(visitor, shop, ada, grace)
    bank = world.application("bank", client_id="bank", client_name="Acme Bank", require_consent=True)
    page = visitor.authorize(bank)
    assert grace.email in page.text
    chooser.press(ada.email)
    again = page.press("Allow access")
    assert again.heading.startswith("Acme Bank wants to use")
    assert ada.email in again.text
    assert again.form("Switch").fields["account"] == ada.uid
    assert email_of(bank, again.press("Allow access")) == ada.email


@pytest.mark.both_databases
def test_signed_out_page_names_those_who_stay_and_signs_them_out(
    visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person
) -> None:
    with_both(visitor, shop, ada, grace)
    page = visitor.open("/logout").press("Sign out")
    assert page.heading == "You’re signed out"
    assert f"This browser is still signed in as {ada.email}" in page.text
    done = page.press("Sign out of all accounts")
    assert done.heading == "You’re signed out"
    assert "still signed in" not in done.text
    assert visitor.cookies(OTHERS) == []
    assert visitor.authorize(shop).is_sign_in
