"""Consent per scope: only new scopes are asked for, optional ones may be left out, and the answer is remembered."""

from __future__ import annotations

import json

import pytest

from app.contract.steps import ConsentStep, RedirectStep
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, code_of
from tests.support.oauth.world import World


@pytest.fixture
def asks(world: World) -> RelyingParty:
    return world.application("asks", require_consent=True, optional_scopes=["email", "phone"])


def answer(
    browser: Browser, client: RelyingParty, refused: tuple[str, ...] = (), **changed: str | None
) -> dict[str, str]:
    step = browser.authorize(client.authorization_parameters(**changed))
    assert step.kind is ConsentStep
    return client.redeem(code_of(browser.consent(step.interaction_id or "", allow=True, refused=refused))).json or {}


def shown(browser: Browser, client: RelyingParty, **changed: str | None) -> dict[str, bool]:
    """Return the scopes of the consent page, and whether each is granted already."""
    step = browser.authorize(client.authorization_parameters(**changed))
    assert step.kind is ConsentStep
    return {scope.name: scope.is_granted for scope in step.scopes}


def test_wider_request_asks_for_new_scopes(asks: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    assert not any(shown(browser, asks).values())
    answer(browser, asks)
    wider = shown(browser, asks, scope="openid profile email address")
    assert wider == {"openid": True, "profile": True, "email": True, "address": False}
    assert browser.authorize(asks.authorization_parameters(scope="openid email")).kind is RedirectStep


def test_application_without_consent_gets_optional_scopes(world: World, browser: Browser, ada: Person) -> None:
    own = world.application("own", optional_scopes=["email"])
    step = browser.signed_in(ada).authorize(own.authorization_parameters(scope="openid email"))
    assert (own.redeem(code_of(step)).json or {})["scope"] == "openid email"


def test_prompt_consent_asks_for_all_again(asks: RelyingParty, browser: Browser, ada: Person) -> None:
    answer(browser.signed_in(ada), asks)
    assert shown(browser, asks, prompt="consent") == {"openid": False, "profile": False, "email": False}


def test_optional_scope_is_left_out_of_tokens(asks: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    claims = json.dumps({"userinfo": {"email": None}, "id_token": {"email": None, "given_name": None}})
    stored = answer(browser, asks, ("email",), claims=claims)
    assert stored["scope"] == "openid profile"
    assert "email" not in claims_in(stored["id_token"])
    assert claims_in(stored["id_token"])["given_name"] == "Ada"
    info = asks.userinfo(stored["access_token"]).json or {}
    assert "email" not in info
    assert info["given_name"] == "Ada"


def test_answer_is_remembered_until_asked_again(asks: RelyingParty, browser: Browser, ada: Person) -> None:
    answer(browser.signed_in(ada), asks, ("email",))
    step = browser.authorize(asks.authorization_parameters())
    assert step.kind is RedirectStep
    assert (asks.redeem(code_of(step)).json or {})["scope"] == "openid profile"
    assert answer(browser, asks, prompt="consent")["scope"] == "openid profile email"
    step = browser.authorize(asks.authorization_parameters())
    assert (asks.redeem(code_of(step)).json or {})["scope"] == "openid profile email"
    assert answer(browser, asks, ("email",), prompt="consent")["scope"] == "openid profile"


def test_scope_that_became_required_is_asked_again(
    world: World, asks: RelyingParty, browser: Browser, ada: Person
) -> None:
    answer(browser.signed_in(ada), asks, ("email",))
    world.change(asks, optional_scopes=[])
    assert shown(browser, asks) == {"openid": True, "profile": True, "email": False}
    assert answer(browser, asks, ("email",))["scope"] == "openid profile email"


def test_required_scope_cannot_be_left_out(asks: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = answer(browser.signed_in(ada), asks, ("openid", "profile", "phone", "unknown"))
    assert stored["scope"] == "openid profile email"


def test_second_submit_gets_the_same_scopes(asks: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.signed_in(ada).authorize(asks.authorization_parameters())
    first = browser.consent(step.interaction_id or "", allow=True, refused=("email",))
    second = browser.consent(step.interaction_id or "", allow=True)
    assert (asks.redeem(code_of(first)).json or {})["scope"] == "openid profile"
    assert (asks.redeem(code_of(second)).json or {})["scope"] == "openid profile"
