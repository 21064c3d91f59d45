"""Several accounts in one browser: none answers for another, and a sign-out leaves nothing of its account (decision 0238)."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.sessions.models import SelectAccountStep
from app.contract.steps import ConfirmSignOutStep, ConsentStep, DeviceStep, LoginStep, RedirectStep, SignedOutStep
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, code_of, parameters_of
from tests.support.oauth.world import World
from tests.support.visitors.answered_step import AnsweredStep

BYE = "https://shop.example/bye"


@pytest.fixture
def grace(world: World) -> Person:
    return world.person("grace@example.test")


@pytest.fixture
def bank(world: World) -> RelyingParty:
    return world.application("bank", client_id="bank", require_consent=True)


@pytest.fixture
def both(shop: RelyingParty, browser: Browser, ada: Person, grace: Person) -> Browser:
    """The browser is signed in to both accounts; Ada's is the current one."""
    browser.signed_in(grace)
    add(browser, shop, ada)
    return browser


def add(browser: Browser, shop: RelyingParty, person: Person, *, remember: bool = False) -> AnsweredStep:
    step = ask(browser, shop, prompt="select_account")
    browser.choose_account(step.interaction_id or "")
    members = {
        "InteractionId": step.interaction_id,
        "Identifier": person.email,
        "Password": person.password,
        "Remember": remember,
    }
    return browser._post("/hub/sign-in", members, step.interaction_id)


def ask(browser: Browser, shop: RelyingParty, **changed: str | None) -> AnsweredStep:
    return browser.authorize(shop.authorization_parameters(**changed))


def redeemed(shop: RelyingParty, step: AnsweredStep) -> dict[str, Any]:
    return shop.redeem(code_of(step)).json or {}


def subject(shop: RelyingParty, step: AnsweredStep) -> str:
    return str(claims_in(redeemed(shop, step)["id_token"])["sub"])


def choose(browser: Browser, step: AnsweredStep, person: Person) -> AnsweredStep:
    account = next(account.id for account in step.accounts if account.label == person.email)
    return browser.choose_account(step.interaction_id or "", account)


def test_silent_hint_leaves_the_current_account(shop: RelyingParty, both: Browser, ada: Person, grace: Person) -> None:
    """Any site can send a browser with a hint."""
    before = (both.session, both.others)
    for prompt in (None, "none"):
        step = ask(both, shop, login_hint=grace.email, prompt=prompt)
        assert (step.session, step.other_sessions) == (None, None)
        assert subject(shop, step) == grace.uid
    assert (both.session, both.others) == before
    assert subject(shop, ask(both, shop)) == ada.uid


def test_page_for_a_hinted_account_comes_after_its_choice(both: Browser, bank: RelyingParty, grace: Person) -> None:
    assert parameters_of(ask(both, bank, login_hint=grace.email, prompt="none"))["error"] == "consent_required"
    step = ask(both, bank, login_hint=grace.email)
    assert (step.kind, step.session, len(step.accounts)) == (SelectAccountStep, None, 2)
    assert both.resume(step.interaction_id or "").kind is SelectAccountStep
    requested = choose(both, step, grace)
    assert (requested.kind, requested.person and requested.person.uid) == (ConsentStep, grace.uid)
    assert subject(bank, both.consent(step.interaction_id or "", allow=True)) == grace.uid


def test_hinted_account_is_offered_without_a_current_one(
    shop: RelyingParty, both: Browser, bank: RelyingParty, grace: Person
) -> None:
    both.sign_out(confirmed=True)
    assert subject(shop, ask(both, shop, login_hint=grace.email, prompt="none")) == grace.uid
    step = ask(both, bank, login_hint=grace.email)
    assert (step.kind, both.session) == (SelectAccountStep, None)
    assert choose(both, step, grace).kind is ConsentStep


@pytest.mark.parametrize("shown", ["ada", ""])
def test_consent_is_the_one_of_the_account_that_the_page_showed(
    shop: RelyingParty, both: Browser, bank: RelyingParty, ada: Person, grace: Person, shown: str
) -> None:
    page = ask(both, bank)
    assert (page.kind, both.shown) == (ConsentStep, ada.uid)
    choose(both, ask(both, shop, prompt="select_account"), grace)  # in another tab
    both.shown = ada.uid if shown else ""
    again = both.consent(page.interaction_id or "", allow=True)
    assert (again.kind, again.person and again.person.uid) == (ConsentStep, grace.uid)
    assert ask(both, bank).kind is ConsentStep
    assert subject(bank, both.consent(page.interaction_id or "", allow=True)) == grace.uid


def test_device_is_allowed_by_the_account_that_the_page_showed(
    world: World, shop: RelyingParty, both: Browser, ada: Person, grace: Person
) -> None:
    grant = "urn:ietf:params:oauth:grant-type:device_code"
    tv = world.application("tv", client_id="tv", grant_types=[grant])
    device = tv.start_device(scope="openid").json or {}
    page = both.type_code(device["user_code"])
    assert (page.kind, both.shown) == (DeviceStep, ada.uid)
    choose(both, ask(both, shop, prompt="select_account"), grace)
    both.shown = ada.uid
    again = both.allow_device(page.interaction_id)
    assert (again.kind, again.person and again.person.uid) == (DeviceStep, grace.uid)
    assert (tv.poll(device["device_code"]).json or {})["error"] == "authorization_pending"


def test_switch_leaves_the_account_that_the_page_showed(
    shop: RelyingParty, both: Browser, bank: RelyingParty, ada: Person, grace: Person
) -> None:
    page = ask(both, bank)
    choose(both, ask(both, shop, prompt="select_account"), grace)
    step = both._post(
        "/hub/switch-account", {"InteractionId": page.interaction_id, "Account": ada.uid}, page.interaction_id
    )
    assert (step.kind, step.ends_session) == (ConsentStep, False)
    assert subject(shop, ask(both, shop)) == grace.uid


def choosing(browser: Browser, page: AnsweredStep) -> AnsweredStep:
    """Leave a page by its link to the accounts."""
    return browser._post(
        "/hub/switch-account", {"InteractionId": page.interaction_id, "Chooses": True}, page.interaction_id
    )


def test_switch_keeps_the_session_until_the_choice(
    shop: RelyingParty, browser: Browser, bank: RelyingParty, ada: Person, grace: Person
) -> None:
    stored = redeemed(shop, ask(browser.signed_in(ada), shop))
    page = ask(browser, bank)
    step = choosing(browser, page)
    assert (step.kind, step.ends_session, len(step.accounts)) == (SelectAccountStep, False, 1)
    assert browser.resume(page.interaction_id or "").kind is SelectAccountStep
    assert browser.consent(page.interaction_id or "", allow=True).kind is SelectAccountStep
    assert choose(browser, step, ada).kind is ConsentStep
    choosing(browser, page)
    assert browser.choose_account(page.interaction_id or "").kind is LoginStep
    requested = browser.sign_in(page.interaction_id, grace.email, grace.password)
    assert (requested.kind, requested.person and requested.person.uid) == (ConsentStep, grace.uid)
    assert shop.introspect(stored["access_token"])["active"] is True
    assert subject(bank, browser.consent(page.interaction_id or "", allow=True)) == grace.uid


def test_account_that_just_signed_in_may_be_switched(
    browser: Browser, bank: RelyingParty, ada: Person, grace: Person
) -> None:
    """Its authentication in this interaction counts neither for the wish to use another account nor for that account."""
    page = ask(browser, bank)
    assert browser.sign_in(page.interaction_id, ada.email, ada.password).kind is ConsentStep
    step = choosing(browser, page)
    assert step.kind is SelectAccountStep
    login = browser.choose_account(page.interaction_id or "")
    assert (login.kind, login.person) == (LoginStep, None)
    assert browser.resume(page.interaction_id or "").kind is LoginStep
    assert browser.consent(page.interaction_id or "", allow=True).kind is LoginStep
    assert browser.accounts(page.interaction_id or "").kind is SelectAccountStep
    assert browser.sign_in(page.interaction_id, grace.email, grace.password).kind is ConsentStep
    assert choose(browser, choosing(browser, page), ada).kind is ConsentStep
    assert subject(bank, browser.consent(page.interaction_id or "", allow=True)) == ada.uid


@pytest.mark.both_databases
def test_sign_out_leaves_no_session_of_its_account(
    shop: RelyingParty, both: Browser, ada: Person, grace: Person
) -> None:
    """Grace signs in as she always does, while the browser holds a session of hers."""
    stored = redeemed(shop, ask(both, shop, login_hint=grace.email))
    step = ask(both, shop, prompt="login")
    both.sign_in(step.interaction_id, grace.email, grace.password)
    assert both.others == ()
    assert shop.introspect(stored["access_token"])["active"] is False
    both.sign_out(confirmed=True)
    assert ask(both, shop).kind is LoginStep


@pytest.mark.parametrize("leave", ["sign-out", "switch", "chooser", "reauthenticate"])
def test_second_session_of_one_account_ends_with_the_first(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, leave: str
) -> None:
    """However the cookie came to hold it."""
    other = world.browser()
    stored = redeemed(shop, ask(other.signed_in(ada), shop))
    browser.signed_in(ada).others = (other.session or "",)
    step = ask(browser, shop, prompt="login" if leave == "reauthenticate" else "select_account")
    if leave == "sign-out":
        browser.sign_out(confirmed=True)
    elif leave == "switch":
        browser._post("/hub/switch-account", {"InteractionId": step.interaction_id}, step.interaction_id)
    elif leave == "chooser":
        browser.choose_account(step.interaction_id or "", sign_out=step.accounts[0].id)
    else:
        browser.sign_in(step.interaction_id, ada.email, ada.password)
    assert shop.introspect(stored["access_token"])["active"] is False
    assert ask(other, shop).kind is LoginStep


def test_application_signs_out_the_account_of_its_id_token(
    shop: RelyingParty, both: Browser, ada: Person, grace: Person
) -> None:
    stored = redeemed(shop, ask(both, shop, login_hint=grace.email))
    step = both.sign_out(id_token_hint=stored["id_token"], post_logout_redirect_uri=BYE)
    assert (step.kind, step.address, step.ends_session) == (RedirectStep, BYE, False)
    assert both.others == ()
    assert shop.introspect(stored["access_token"])["active"] is False
    assert subject(shop, ask(both, shop)) == ada.uid


def test_sign_out_question_names_the_account_of_the_id_token(
    shop: RelyingParty, both: Browser, ada: Person, grace: Person
) -> None:
    hint = redeemed(shop, ask(both, shop, login_hint=grace.email))["id_token"]
    requested: dict[str, Any] = {"id_token_hint": hint, "post_logout_redirect_uri": "https://elsewhere.example/"}
    step = both.sign_out(**requested)
    assert (step.kind, step.person and step.person.uid) == (ConfirmSignOutStep, grace.uid)
    step = both.sign_out(**requested, confirmed=True)
    assert (step.kind, step.ends_session, both.others) == (SignedOutStep, False, ())
    assert subject(shop, ask(both, shop)) == ada.uid


def test_id_token_of_a_third_browser_ends_nothing_unasked(
    world: World, shop: RelyingParty, both: Browser, ada: Person, grace: Person
) -> None:
    hint = redeemed(shop, ask(world.browser().signed_in(grace), shop))["id_token"]
    step = both.sign_out(id_token_hint=hint)
    assert (step.kind, step.person and step.person.uid) == (ConfirmSignOutStep, ada.uid)


@pytest.mark.parametrize("is_remembered", [True, False])
def test_cookie_outlives_the_browser_only_if_each_session_may(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, grace: Person, is_remembered: bool
) -> None:
    members = {"Identifier": ada.email, "Password": ada.password, "Remember": True}
    browser._post("/hub/sign-in", members)
    add(browser, shop, grace, remember=is_remembered)
    step = add(browser, shop, world.person("eve@example.test"))
    assert step.other_sessions is not None
    assert len(step.other_sessions.tokens) == 2
    assert (step.other_sessions.lifetime_seconds is not None) is is_remembered
