"""The checks of usual authorization requests are kept while tenant and client stay as they are (decisions/0301).

The tests' servers check each request whose checks are kept in full beside it, in every module, and compare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from app.contract.hub import Next, Step
from app.identity.protocols.oauth.authorize import kept_checks
from tests.support.oauth_world import World
from tests.support.relying_party import Browser, Person, RelyingParty, parameters_of
from tests.support.straight_answers import kept

CHALLENGE, OTHER_CHALLENGE = "a" * 43, "b" * 43


def asked(browser: Browser, client: RelyingParty, **changed: str | None) -> tuple[bool, Next]:
    """Return whether the checks were kept, and the step."""
    known = len(kept)
    step = browser.authorize(client.authorization_parameters(**changed))
    return len(kept) > known, step


@pytest.fixture
def again(browser: Browser, ada: Person, shop: RelyingParty) -> Callable[..., tuple[bool, Next]]:
    """Ask as `asked` does, after the browser of a signed-in person asked for the shop."""
    browser.signed_in(ada)
    was_kept, step = asked(browser, shop, code_challenge=CHALLENGE, code_challenge_method="S256")
    assert (was_kept, step.step) == (False, Step.REDIRECT)

    def ask(client: RelyingParty = shop, **changed: str | None) -> tuple[bool, Next]:
        return asked(browser, client, **changed)

    return ask


def test_each_request_has_a_state_nonce_and_challenge_of_its_own(
    again: Callable[..., tuple[bool, Next]], shop: RelyingParty
) -> None:
    for values in ({"state": "other", "nonce": "other"}, {"state": None, "nonce": None}):
        was_kept, step = again(**values, code_challenge=OTHER_CHALLENGE)
        assert was_kept
        assert parameters_of(step).get("state") == values["state"]
        answer = shop.redeem(parameters_of(step)["code"], code_verifier="v" * 43)
        assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_grant")


def test_challenge_of_an_earlier_request_binds_no_later_code(
    again: Callable[..., tuple[bool, Next]], shop: RelyingParty
) -> None:
    was_kept, step = again(code_challenge=None, code_challenge_method=None)
    assert was_kept
    assert shop.redeem(parameters_of(step)["code"], code_verifier=None).status_code == 200


REFUSED: Mapping[str, Mapping[str, str]] = {
    "a long state": {"state": "s" * 2049},
    "a long nonce": {"nonce": "n" * 513},
    "a very long nonce": {"nonce": "n" * 8001},
    "a long challenge": {"code_challenge": "c" * 8001},
    "a malformed challenge": {"code_challenge": "c" * 42},
    "another method": {"code_challenge": CHALLENGE, "code_challenge_method": "plain"},
    "an unknown method": {"code_challenge": CHALLENGE, "code_challenge_method": "S512"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_differs_is_checked_each_time(again: Callable[..., tuple[bool, Next]], name: str) -> None:
    was_kept, step = again(**REFUSED[name])
    assert was_kept
    assert parameters_of(step)["error"] == "invalid_request"


def test_public_client_needs_a_challenge_each_time(world: World, browser: Browser, ada: Person) -> None:
    public = world.application("public", secret=None)
    browser.signed_in(ada)
    assert asked(browser, public, code_challenge=CHALLENGE)[1].step is Step.REDIRECT
    was_kept, step = asked(browser, public, code_challenge=None, code_challenge_method=None)
    assert was_kept
    assert parameters_of(step)["error"] == "invalid_request"


UNLIKE: Mapping[str, Mapping[str, str | None]] = {
    "another address": {"redirect_uri": "https://shop.example/other"},
    "no address": {"redirect_uri": None},
    "an unknown client": {"client_id": "unknown"},
    "another type": {"response_type": "token"},
    "another scope": {"scope": "email"},
    "no type": {"response_type": None},
    "a prompt": {"prompt": "login"},
    "an age": {"max_age": "0"},
    "a resource": {"resource": "https://api.example"},
    "a hint": {"id_token_hint": "x"},
    "an object": {"request": "x"},
    "a mode": {"response_mode": "form_post"},
    "claims": {"claims": "x"},
}


@pytest.mark.parametrize("name", UNLIKE)
def test_another_request_is_checked_in_full(again: Callable[..., tuple[bool, Next]], name: str) -> None:
    was_kept, step = again(**UNLIKE[name])
    assert not was_kept
    assert "code" not in (parameters_of(step) if step.step is Step.REDIRECT else {})


def test_repeated_parameter_is_checked_in_full(
    again: Callable[..., tuple[bool, Next]], browser: Browser, shop: RelyingParty
) -> None:
    known = len(kept)
    pairs = [(name, value) for name, value in shop.authorization_parameters().items() if value]
    step = browser.authorize([*pairs, ("scope", "openid")])
    assert (len(kept), parameters_of(step)["error"]) == (known, "invalid_request")


@pytest.mark.parametrize(
    ("setting", "step"),
    [
        ({"is_active": False}, Step.REFUSED),
        ({"redirect_uris": ["https://shop.example/new"]}, Step.REFUSED),
        ({"grant_types": ["client_credentials"]}, Step.REDIRECT),
        ({"require_pkce": True}, Step.REDIRECT),
        ({"scope": "email"}, Step.REDIRECT),
    ],
    ids=["inactive", "address", "grant", "challenge", "scope"],
)
def test_changed_client_is_refused_at_once(
    again: Callable[..., tuple[bool, Next]], world: World, shop: RelyingParty, setting: dict[str, object], step: Step
) -> None:
    assert again()[0]
    world.change(shop, **setting)
    was_kept, answered = again(code_challenge=None, code_challenge_method=None)
    assert (was_kept, answered.step) == (False, step)
    assert step is Step.REFUSED or "error" in parameters_of(answered)


def test_changed_tenant_is_asked_at_once(
    again: Callable[..., tuple[bool, Next]], world: World, browser: Browser, ada: Person
) -> None:
    listed = world.application("listed", redirect_uris=[])
    address = "https://listed.example/cb"
    world.change_settings(url_whitelist=[address])
    assert asked(browser, listed, redirect_uri=address)[1].step is Step.REDIRECT
    assert asked(browser, listed, redirect_uri=address)[0]
    world.change_settings(url_whitelist=[])
    was_kept, step = asked(browser, listed, redirect_uri=address)
    assert (was_kept, step.step) == (False, Step.REFUSED)


def test_same_client_id_of_another_tenant_is_checked_in_full(
    again: Callable[..., tuple[bool, Next]], foreign_shop: RelyingParty, browser: Browser
) -> None:
    assert again()[0]
    foreign = Browser(foreign_shop.services, foreign_shop.wsgi, foreign_shop.tenant_name)
    was_kept, step = asked(foreign, foreign_shop)
    assert (was_kept, step.step) == (False, Step.LOGIN)


def test_signed_out_browser_is_asked_to_sign_in(
    again: Callable[..., tuple[bool, Next]], world: World, shop: RelyingParty
) -> None:
    was_kept, step = asked(world.browser(), shop)
    assert (was_kept, step.step) == (True, Step.LOGIN)


def test_long_scope_is_not_kept(again: Callable[..., tuple[bool, Next]]) -> None:
    scope = "openid " + "x" * kept_checks._MOST_CHARACTERS
    for _ in range(2):
        was_kept, step = again(scope=scope)
        assert (was_kept, step.step) == (False, Step.REDIRECT)
