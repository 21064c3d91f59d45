"""Several signed-in accounts in one browser: chosen, added, named by a hint, signed out of, and never confused (decision 0238)."""

from __future__ import annotations

import pytest

from app.contract.sessions.models import SelectAccountStep
from app.contract.steps import ConsentStep, LoginStep, RedirectStep
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, code_of, parameters_of
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.answered_step import AnsweredStep


@pytest.fixture
def grace(world: World) -> Person:
    return world.person("grace@example.test")


def ask(browser: Browser, shop: RelyingParty, **changed: str | None) -> AnsweredStep:
    return browser.authorize(shop.authorization_parameters(**changed))


def choosing(browser: Browser, shop: RelyingParty, **changed: str | None) -> AnsweredStep:
    step = ask(browser, shop, prompt="select_account", **changed)
    assert step.kind is SelectAccountStep
    return step


def add(browser: Browser, shop: RelyingParty, person: Person) -> AnsweredStep:
    """Sign in to one more account through the page."""
    step = choosing(browser, shop)
    login = browser.choose_account(step.interaction_id or "")
    assert (login.kind, login.person, login.reauthentication is not None) == (LoginStep, None, False)
    return browser.sign_in(step.interaction_id, person.email, person.password)


def subject(shop: RelyingParty, step: AnsweredStep) -> str:
    return str(claims_in((shop.redeem(code_of(step)).json or {})["id_token"])["sub"])


def labels(step: AnsweredStep) -> list[str]:
    return [account.label for account in step.accounts]


def id_of(step: AnsweredStep, person: Person) -> str:
    return next(str(account.id) for account in step.accounts if account.label == person.email)


def test_page_lists_one_account(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    step = choosing(browser.signed_in(ada), shop)
    assert [(account.label, account.name, account.is_current) for account in step.accounts] == [
        (ada.email, "Ada Lovelace", True)
    ]
    assert subject(shop, browser.choose_account(step.interaction_id or "", step.accounts[0].id)) == ada.uid


def test_second_account_is_added_beside_the_first(
    shop: RelyingParty, browser: Browser, ada: Person, grace: Person
) -> None:
    browser.signed_in(ada)
    assert subject(shop, add(browser, shop, grace)) == grace.uid
    step = choosing(browser, shop)
    assert labels(step) == [grace.email, ada.email]
    assert subject(shop, browser.choose_account(step.interaction_id or "", id_of(step, ada))) == ada.uid
    assert labels(choosing(browser, shop)) == [ada.email, grace.email]
    assert subject(shop, ask(browser, shop)) == ada.uid  # the account chosen last is the current one


def test_tokens_of_first_account_survive(shop: RelyingParty, browser: Browser, ada: Person, grace: Person) -> None:
    first = shop.redeem(browser.code(shop, ada)).json or {}
    add(browser, shop, grace)
    assert shop.introspect(first["access_token"])["active"] is True
    assert shop.refresh(first["refresh_token"]).status_code == 200


def test_hints_pick_an_account_silently(shop: RelyingParty, browser: Browser, ada: Person, grace: Person) -> None:
    id_token = (shop.redeem(browser.code(shop, ada)).json or {})["id_token"]
    add(browser, shop, grace)
    assert subject(shop, ask(browser, shop, login_hint="ADA@example.test", prompt="none")) == ada.uid
    assert subject(shop, ask(browser, shop, login_hint=grace.email)) == grace.uid
    assert subject(shop, ask(browser, shop, id_token_hint=id_token, prompt="none")) == ada.uid
    unknown = ask(browser, shop, login_hint="absent@example.test")
    assert (unknown.kind, unknown.login_hint) == (LoginStep, "absent@example.test")
    contrary = ask(browser, shop, id_token_hint=id_token, login_hint=grace.email, prompt="none")
    assert parameters_of(contrary)["error"] == "login_required"


def test_hint_whose_account_must_be_asked_shows_the_accounts(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, grace: Person
) -> None:
    """Any site can send a browser here with a hint: it alone brings up no consent page of another account."""
    browser.signed_in(ada)
    add(browser, shop, grace)
    asking = world.application("asking", require_consent=True)
    step = ask(browser, asking, login_hint=ada.email)
    assert (step.kind, labels(step)) == (SelectAccountStep, [grace.email, ada.email])
    assert browser.choose_account(step.interaction_id or "", id_of(step, ada)).kind is ConsentStep


@pytest.mark.both_databases
def test_sign_out_of_one_leaves_the_other(shop: RelyingParty, browser: Browser, ada: Person, grace: Person) -> None:
    first = shop.redeem(browser.code(shop, ada)).json or {}
    second = shop.redeem(code_of(add(browser, shop, grace))).json or {}
    step = choosing(browser, shop)
    left = browser.choose_account(step.interaction_id or "", sign_out=id_of(step, ada))
    assert (left.kind, labels(left)) == (SelectAccountStep, [grace.email])
    assert shop.introspect(first["access_token"])["active"] is False
    assert shop.introspect(second["access_token"])["active"] is True
    assert browser.others == ()
    last = browser.choose_account(step.interaction_id or "", sign_out=id_of(left, grace))
    assert last.kind is LoginStep
    assert browser.session is None


def test_sign_out_of_current_offers_the_other(shop: RelyingParty, browser: Browser, ada: Person, grace: Person) -> None:
    browser.signed_in(ada)
    add(browser, shop, grace)
    step = choosing(browser, shop)
    left = browser.choose_account(step.interaction_id or "", sign_out=id_of(step, grace))
    assert labels(left) == [ada.email]
    assert browser.session is None
    again = ask(browser, shop)
    assert (again.kind, labels(again)) == (SelectAccountStep, [ada.email])
    assert parameters_of(ask(browser, shop, prompt="none"))["error"] == "login_required"
    assert subject(shop, browser.choose_account(again.interaction_id or "", id_of(again, ada))) == ada.uid


def test_foreign_or_guessed_id_chooses_nothing(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, grace: Person
) -> None:
    browser.signed_in(ada)
    other = world.browser().signed_in(grace)
    foreign = choosing(other, shop).accounts[0].id
    step = choosing(browser, shop)
    for guess in (foreign, grace.uid, ada.uid, "x", "../"):
        answer = browser.choose_account(step.interaction_id or "", guess)
        assert (answer.kind, labels(answer), answer.session) == (SelectAccountStep, [ada.email], None)
        answer = browser.choose_account(step.interaction_id or "", sign_out=guess)
        assert labels(answer) == [ada.email]
    assert ask(other, shop).kind is RedirectStep


@pytest.mark.both_databases
def test_cookie_of_another_tenant_names_no_account(
    new_world: NewWorld, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    other = new_world()
    guest = other.browser().signed_in(other.person("eve@example.test"))
    browser.signed_in(ada)
    browser.others = (guest.session or "", "forged", "x" * 300)
    assert labels(choosing(browser, shop)) == [ada.email]


def test_plain_sign_in_still_ends_the_former_session(
    shop: RelyingParty, browser: Browser, ada: Person, grace: Person
) -> None:
    """Only a person who asks for one more account keeps the former one: a planted session must not stay."""
    first = shop.redeem(browser.code(shop, ada)).json or {}
    step = ask(browser, shop, prompt="login")
    browser.sign_in(step.interaction_id, grace.email, grace.password)
    assert shop.introspect(first["access_token"])["active"] is False
    assert labels(choosing(browser, shop)) == [grace.email]


def test_same_account_is_listed_once(shop: RelyingParty, browser: Browser, ada: Person, grace: Person) -> None:
    browser.signed_in(ada)
    add(browser, shop, grace)
    assert subject(shop, add(browser, shop, ada)) == ada.uid
    assert labels(choosing(browser, shop)) == [ada.email, grace.email]
    assert subject(shop, add(browser, shop, ada)) == ada.uid
    assert len(browser.others) == 1


@pytest.mark.both_databases
def test_at_most_five_accounts_are_signed_in(world: World, shop: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    for number in range(4):
        add(browser, shop, world.person(f"p{number}@example.test"))
    step = choosing(browser, shop)
    assert len(step.accounts) == 5
    assert browser.choose_account(step.interaction_id or "").kind is SelectAccountStep
    browser.choose_account(step.interaction_id or "", sign_out=id_of(step, ada))
    assert browser.choose_account(step.interaction_id or "").kind is LoginStep


def test_closed_account_is_not_offered(shop: RelyingParty, browser: Browser, ada: Person, grace: Person) -> None:
    browser.signed_in(ada)
    add(browser, shop, grace)
    ada.close()
    assert labels(choosing(browser, shop)) == [grace.email]
    assert ask(browser, shop, login_hint=ada.email).kind is LoginStep


def test_chosen_account_still_meets_the_request(
    shop: RelyingParty, browser: Browser, ada: Person, grace: Person
) -> None:
    """The choice names an account; max_age and prompt=login still want an authentication."""
    browser.signed_in(ada)
    add(browser, shop, grace)
    step = choosing(browser, shop, max_age="0")
    answer = browser.choose_account(step.interaction_id or "", id_of(step, ada))
    assert (answer.kind, answer.reauthentication is not None) == (LoginStep, True)
    assert answer.person is not None
    assert answer.person.label == ada.email
    assert ask(browser, shop, prompt="select_account login").kind is LoginStep


def test_back_from_sign_in_page_shows_accounts_again(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    step = choosing(browser.signed_in(ada), shop)
    assert browser.choose_account(step.interaction_id or "").kind is LoginStep
    again = browser.accounts(step.interaction_id or "")
    assert labels(again) == [ada.email]
    assert subject(shop, browser.choose_account(step.interaction_id or "", again.accounts[0].id)) == ada.uid


def test_choice_is_bound_to_its_browser(world: World, shop: RelyingParty, browser: Browser, ada: Person) -> None:
    step = choosing(browser.signed_in(ada), shop)
    thief = world.browser()
    assert thief.choose_account(step.interaction_id or "", step.accounts[0].id).kind is not RedirectStep


def test_queries_do_not_grow_with_the_accounts(world: World, shop: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.code(shop, ada)
    ask(browser, shop, login_hint=ada.email)  # reads once whether the tenant looks up domains
    spent = []
    for number in range(4):
        add(browser, shop, world.person(f"p{number}@example.test"))
        assert len(choosing(browser, shop).accounts) == number + 2
        spent.append(browser.spent()["sql"])
        ask(browser, shop, login_hint=ada.email)
        spent.append(browser.spent()["sql"])
    assert spent == spent[:2] * 4
