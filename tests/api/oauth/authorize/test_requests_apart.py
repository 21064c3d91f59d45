"""Each authorization request is checked by itself: nothing that the checks of one accepted serves another (decision 0313)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from app.contract.steps import AnyStep, LoginStep, RedirectStep, RefusedStep
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, code_of, parameters_of
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import World
from tests.support.visitors.answered_step import AnsweredStep

CHALLENGE, OTHER_CHALLENGE = "a" * 43, "b" * 43


def pushed(client: RelyingParty, **changed: str | None) -> dict[str, str | None]:
    """Push a request and return what the browser takes along."""
    answer = client.push(**changed)
    assert answer.status_code == 201, answer.text
    return {"client_id": client.client_id, "request_uri": (answer.json or {})["request_uri"]}


def refusal(step: AnsweredStep) -> tuple[str, str | None]:
    stored = parameters_of(step)
    assert "code" not in stored
    return stored["error"], stored.get("error_description")


def test_signed_request_excuses_no_unsigned_one(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("signing", jwks=public_jwks(client_key("ES256")), require_signed_request_object=True)
    browser.signed_in(ada)
    same = client.authorization_parameters(state=None)
    assert code_of(browser.authorize({**same, "request": Signer(client).request_object(state=None)}))
    unsigned = refusal(world.browser().signed_in(ada).authorize(same))
    assert unsigned == ("invalid_request", "This client must send a signed request object.")


def test_waiting_pushed_request_excuses_no_plain_one(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("pushing", require_pushed_authorization_requests=True)
    waiting = pushed(client)
    victim = world.browser()
    step = victim.authorize(waiting)
    assert step.kind is LoginStep
    plain = refusal(browser.signed_in(ada).authorize(client.authorization_parameters()))
    assert plain == ("invalid_request", "This client must push its authorization requests.")
    assert code_of(victim.sign_in(step.interaction_id, ada.email, ada.password)), "the pushed request is still there"


def test_opened_pushed_request_ends_no_other_sign_in(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("page", secret=None)
    attacker = world.browser()
    assert attacker.authorize(pushed(client, code_challenge=CHALLENGE)).kind is LoginStep
    for _ in range(2):
        pkce = Pkce()
        code = browser.code(client, ada, code_challenge=pkce.challenge)
        assert client.redeem(code, code_verifier=pkce.verifier).status_code == 200


@pytest.fixture
def again(browser: Browser, ada: Person, shop: RelyingParty) -> Callable[..., AnsweredStep]:
    """Ask by the browser of a signed-in person, after it got a code for the shop."""
    parameters = shop.authorization_parameters(code_challenge=CHALLENGE, code_challenge_method="S256")
    assert code_of(browser.signed_in(ada).authorize(parameters))

    def ask(client: RelyingParty = shop, **changed: str | None) -> AnsweredStep:
        return browser.authorize(client.authorization_parameters(**changed))

    return ask


def test_each_request_has_a_state_nonce_and_challenge_of_its_own(
    again: Callable[..., AnsweredStep], shop: RelyingParty
) -> None:
    for values in ({"state": "other", "nonce": "other"}, {"state": None, "nonce": None}):
        step = again(**values, code_challenge=OTHER_CHALLENGE)
        assert parameters_of(step).get("state") == values["state"]
        answer = shop.redeem(code_of(step), code_verifier="v" * 43)
        assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_grant")


def test_challenge_of_an_earlier_request_binds_no_later_code(
    again: Callable[..., AnsweredStep], shop: RelyingParty
) -> None:
    step = again(code_challenge=None, code_challenge_method=None)
    assert shop.redeem(code_of(step), code_verifier=None).status_code == 200


REFUSED: Mapping[str, Mapping[str, str]] = {
    "a long state": {"state": "s" * 8193},
    "a long nonce": {"nonce": "n" * 513},
    "a very long nonce": {"nonce": "n" * 8001},
    "a long challenge": {"code_challenge": "c" * 8001},
    "a malformed challenge": {"code_challenge": "c" * 42},
    "another method": {"code_challenge": CHALLENGE, "code_challenge_method": "plain"},
    "an unknown method": {"code_challenge": CHALLENGE, "code_challenge_method": "S512"},
}


def test_what_differs_is_checked_each_time(again: Callable[..., AnsweredStep], subtests: pytest.Subtests) -> None:
    for name, changed in REFUSED.items():
        with subtests.test(name):
            assert refusal(again(**changed))[0] == "invalid_request"


def test_public_client_needs_a_challenge_each_time(world: World, browser: Browser, ada: Person) -> None:
    public = world.application("public", secret=None)
    browser.signed_in(ada)
    assert code_of(browser.authorize(public.authorization_parameters(code_challenge=CHALLENGE)))
    assert refusal(browser.authorize(public.authorization_parameters()))[0] == "invalid_request"


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


def test_code_excuses_no_other_request(again: Callable[..., AnsweredStep], subtests: pytest.Subtests) -> None:
    for name, changed in UNLIKE.items():
        with subtests.test(name):
            step = again(**changed)
            assert "code" not in (parameters_of(step) if step.kind is RedirectStep else {})


def test_repeated_parameter_is_refused_after_a_code(
    again: Callable[..., AnsweredStep], browser: Browser, shop: RelyingParty
) -> None:
    pairs = [(name, value) for name, value in shop.authorization_parameters().items() if value]
    assert refusal(browser.authorize([*pairs, ("scope", "openid")]))[0] == "invalid_request"


@pytest.mark.parametrize(
    ("setting", "step"),
    [
        ({"is_active": False}, RefusedStep),
        ({"redirect_uris": ["https://shop.example/new"]}, RefusedStep),
        ({"grant_types": ["client_credentials"]}, RedirectStep),
        ({"require_pkce": True}, RedirectStep),
        ({"scope": "email"}, RedirectStep),
        ({"require_pushed_authorization_requests": True}, RedirectStep),
        ({"require_signed_request_object": True}, RedirectStep),
        ({"security_profile": "fapi2"}, RedirectStep),
    ],
    ids=["inactive", "address", "grant", "challenge", "scope", "push", "signature", "profile"],
)
def test_changed_client_is_refused_at_once(
    again: Callable[..., AnsweredStep],
    world: World,
    shop: RelyingParty,
    setting: dict[str, object],
    step: type[AnyStep],
) -> None:
    world.change(shop, **setting)
    answered = again(code_challenge=None, code_challenge_method=None)
    assert answered.kind is step
    assert step is RefusedStep or "error" in parameters_of(answered)


def test_changed_tenant_is_asked_at_once(world: World, browser: Browser, ada: Person) -> None:
    listed = world.application("listed", redirect_uris=[])
    address = "https://listed.example/cb"
    world.change_settings(url_whitelist=[address])
    browser.signed_in(ada)
    assert code_of(browser.authorize(listed.authorization_parameters(redirect_uri=address)))
    world.change_settings(url_whitelist=[])
    assert browser.authorize(listed.authorization_parameters(redirect_uri=address)).kind is RefusedStep


def test_code_opens_no_same_client_id_of_another_tenant(
    again: Callable[..., AnsweredStep], foreign_shop: RelyingParty, browser: Browser
) -> None:
    foreign = Browser(foreign_shop.services, foreign_shop.wsgi, foreign_shop.tenant_name)
    assert foreign.authorize(foreign_shop.authorization_parameters()).kind is LoginStep


def test_signed_out_browser_is_asked_to_sign_in(
    again: Callable[..., AnsweredStep], world: World, shop: RelyingParty
) -> None:
    assert world.browser().authorize(shop.authorization_parameters()).kind is LoginStep
