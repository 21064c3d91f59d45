"""The parameter `claims` with values: whose tokens a request gets, and which claims (OpenID Connect Core sections 3.1.2.2 and 5.5.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.contract.sessions.models import SelectAccountStep
from app.contract.steps import ConsentStep, LoginStep, RedirectStep
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, code_of, parameters_of
from tests.support.oauth.world import World
from tests.support.visitors.answered_step import AnsweredStep

PLACES = ["id_token", "userinfo"]


@pytest.fixture
def grace(world: World) -> Person:
    return world.person("grace@example.test")


@pytest.fixture
def both(shop: RelyingParty, browser: Browser, ada: Person, grace: Person) -> Browser:
    """The browser is signed in to both accounts; Ada's is the current one."""
    browser.signed_in(grace)
    step = browser.authorize(shop.authorization_parameters(prompt="select_account"))
    browser.choose_account(step.interaction_id or "")
    browser.sign_in(step.interaction_id, ada.email, ada.password)
    return browser


def ask(browser: Browser, client: RelyingParty, claims: Any, **changed: str | None) -> AnsweredStep:
    text = claims if isinstance(claims, str) else json.dumps(claims)
    return browser.authorize(client.authorization_parameters(claims=text, **changed))


def error(step: AnsweredStep) -> str | None:
    return parameters_of(step).get("error")


def subject(client: RelyingParty, step: AnsweredStep) -> str:
    return str(claims_in((client.redeem(code_of(step)).json or {})["id_token"])["sub"])


def received(client: RelyingParty, step: AnsweredStep) -> dict[str, dict[str, Any]]:
    """Return the claims that both places have of the account."""
    body = client.redeem(code_of(step)).json or {}
    return {"id_token": claims_in(body["id_token"]), "userinfo": dict(client.userinfo(body["access_token"]).json or {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("member", ["value", "values"])
def test_response_is_never_about_another_account(
    shop: RelyingParty, browser: Browser, ada: Person, grace: Person, place: str, member: str
) -> None:
    def subject_claims(person: Person) -> dict[str, Any]:
        return {place: {"sub": {member: person.uid if member == "value" else [person.uid]}}}

    browser.signed_in(ada)
    assert subject(shop, ask(browser, shop, subject_claims(ada), prompt="none")) == ada.uid
    assert error(ask(browser, shop, subject_claims(grace), prompt="none")) == "login_required"
    step = ask(browser, shop, subject_claims(grace))
    assert (step.kind, step.person, step.reauthentication is not None) == (LoginStep, None, False)
    assert error(browser.sign_in(step.interaction_id, ada.email, ada.password)) == "login_required"
    step = ask(browser, shop, subject_claims(grace))
    assert subject(shop, browser.sign_in(step.interaction_id, grace.email, grace.password)) == grace.uid


def test_one_of_several_accounts_suffices(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, grace: Person
) -> None:
    claims = {"id_token": {"sub": {"values": ["unknown", grace.uid, ada.uid]}}}
    assert subject(shop, ask(browser.signed_in(ada), shop, claims, prompt="none")) == ada.uid
    eve = world.person("eve@example.test")
    other = world.browser().signed_in(eve)
    assert error(ask(other, shop, claims, prompt="none")) == "login_required"
    step = ask(other, shop, claims)
    assert subject(shop, other.sign_in(step.interaction_id, grace.email, grace.password)) == grace.uid
    step = ask(other, shop, claims, prompt="login")
    assert error(other.sign_in(step.interaction_id, eve.email, eve.password)) == "login_required"


def test_preferred_account_of_the_browser_answers(
    shop: RelyingParty, both: Browser, ada: Person, grace: Person
) -> None:
    """Section 5.5.1: `values` are in order of preference."""
    for first, second in ((ada, grace), (grace, ada)):
        claims = {"id_token": {"sub": {"values": ["unknown", first.uid, second.uid]}}}
        assert subject(shop, ask(both, shop, claims)) == first.uid
        assert subject(shop, ask(both, shop, claims, prompt="none")) == first.uid
    assert subject(shop, both.authorize(shop.authorization_parameters())) == ada.uid


def test_chosen_account_must_be_the_requested_one(
    shop: RelyingParty, both: Browser, ada: Person, grace: Person
) -> None:
    step = ask(both, shop, {"id_token": {"sub": {"value": grace.uid}}}, prompt="select_account")
    ids = {account.label: account.id for account in step.accounts}
    refused = both.choose_account(step.interaction_id or "", ids[ada.email])
    assert (refused.kind, refused.person) == (LoginStep, None)
    assert subject(shop, both.choose_account(step.interaction_id or "", ids[grace.email])) == grace.uid


def test_consent_does_not_widen_the_subject(world: World, both: Browser, ada: Person, grace: Person) -> None:
    bank = world.application("bank", client_id="bank", require_consent=True)
    step = ask(both, bank, {"userinfo": {"sub": {"value": grace.uid}}})
    assert step.kind is SelectAccountStep
    both.shown = ada.uid
    assert both.consent(step.interaction_id or "", allow=True).kind is not RedirectStep
    ids = {account.label: account.id for account in step.accounts}
    assert both.choose_account(step.interaction_id or "", ids[grace.email]).kind is ConsentStep
    assert subject(bank, both.consent(step.interaction_id or "", allow=True)) == grace.uid


def test_hint_and_both_members_must_agree(shop: RelyingParty, browser: Browser, ada: Person, grace: Person) -> None:
    hint = (shop.redeem(browser.code(shop, ada)).json or {})["id_token"]
    either: dict[str, Any] = {"sub": {"values": [ada.uid, grace.uid]}}
    only: dict[str, Any] = {"sub": {"value": grace.uid}}
    assert subject(shop, ask(browser, shop, {"id_token": either}, id_token_hint=hint, prompt="none")) == ada.uid
    assert error(ask(browser, shop, {"id_token": only}, id_token_hint=hint)) == "invalid_request"
    assert error(ask(browser, shop, {"id_token": {"sub": {"value": ada.uid}}, "userinfo": only})) == "invalid_request"
    assert error(ask(browser, shop, {"id_token": either, "userinfo": only}, prompt="none")) == "login_required"


def test_pairwise_client_names_accounts_as_it_knows_them(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("app", redirect_uris=["https://shop.example/cb"], subject_type="pairwise")
    own = subject(client, browser.signed_in(ada).authorize(client.authorization_parameters()))
    for place in PLACES:
        assert subject(client, ask(browser, client, {place: {"sub": {"values": ["x", own]}}}, prompt="none")) == own
        wrong = {place: {"sub": {"values": [ada.uid, own[:-1]]}}}
        assert error(ask(browser, client, wrong, prompt="none")) == "login_required"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("is_essential", [None, False, True])
def test_claim_with_another_value_is_left_out(
    shop: RelyingParty, browser: Browser, ada: Person, place: str, is_essential: bool | None
) -> None:
    """Section 5.5.1: no error, essential or not."""
    expected: dict[str, dict[str, Any]] = {
        "email": {"value": ada.email},
        "given_name": {"values": ["Grace", "Ada"]},
        "family_name": {"value": "Hopper"},
        "name": {"values": ["Grace Hopper", "ada lovelace"]},
        "email_verified": {"value": 1},
        "nickname": {"value": None, "values": None},
        "updated_at": {"values": []},
    }
    claims = {place: {name: {**item, "essential": is_essential} for name, item in expected.items()}}
    found = received(shop, ask(browser.signed_in(ada), shop, claims, scope="openid"))
    assert {name: value for name, value in found[place].items() if name in expected} == {
        "email": ada.email,
        "given_name": "Ada",
    }
    (other,) = set(PLACES) - {place}
    assert not expected.keys() & found[other].keys()


def test_value_limits_the_claims_of_a_scope(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    claims = {"userinfo": {"email": {"value": "grace@example.test"}, "email_verified": {"values": [True, False]}}}
    step = ask(browser.signed_in(ada), shop, claims, scope="openid email")
    info = received(shop, step)["userinfo"]
    assert "email" not in info
    assert "email_verified" in info


def test_value_may_be_an_object(world: World, shop: RelyingParty, browser: Browser) -> None:
    eve = world.person("eve@example.test", Addresses=[{"City": "Bonn", "Country": "DE"}])
    for value, is_there in (
        ({"country": "DE", "locality": "Bonn"}, True),
        ({"country": "DE"}, False),
        ({"country": "DE", "locality": "Bonn", "region": "NRW"}, False),
    ):
        claims = {"id_token": {"address": {"value": value}}}
        found = received(shop, ask(browser.signed_in(eve), shop, claims, scope="openid"))
        assert ("address" in found["id_token"]) is is_there


def test_renewed_tokens_keep_the_wanted_values(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    claims = {"id_token": {"given_name": {"value": "Ada"}}, "userinfo": {"given_name": {"value": "Ada"}}}
    step = ask(browser.signed_in(ada), shop, claims, scope="openid offline_access")
    body = shop.redeem(code_of(step)).json or {}
    ada.set_columns(profile={"FirstName": "Augusta"})
    renewed = shop.refresh(body["refresh_token"]).json or {}
    assert "given_name" not in claims_in(renewed["id_token"])
    assert "given_name" not in (shop.userinfo(renewed["access_token"]).json or {})


def test_front_channel_id_token_obeys_values(world: World, browser: Browser, ada: Person) -> None:
    older = world.application("older", response_types=["id_token"], grant_types=["implicit"])
    claims = {"id_token": {"email": {"value": "x"}, "given_name": {"value": "Ada"}}}
    changed = {"response_type": "id_token", "scope": "openid email", "nonce": "n"}
    step = ask(browser.signed_in(ada), older, claims, **changed)
    found = claims_in(parameters_of(step)["id_token"])
    assert found["given_name"] == "Ada"
    assert "email" not in found


def test_request_removes_no_claim_that_it_did_not_add(world: World, browser: Browser) -> None:
    """Any person can change a request: the claims of the tenant's mapping stay (decision 0243)."""
    eve = world.person("eve@example.test", Company="Acme")
    client = world.application("app", claims_mapping={"id_token": {"company": "Company"}})
    names = ("company", "iss", "aud", "azp", "exp", "sid", "amr", "auth_time", "acr")
    claims = {"id_token": {name: {"value": "x"} for name in names}, "userinfo": {"iss": {"value": "x"}}}
    found = received(client, ask(browser.signed_in(eve), client, claims))["id_token"]
    assert found["company"] == "Acme"
    assert found.keys() >= {"iss", "aud", "azp", "exp", "sid", "amr", "auth_time", "acr"}


def test_unknown_members_are_ignored(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    claims = {
        "id_token": {"given_name": {"max_age": 5, "value": "Ada"}, "https://x.example/y": {"value": {"a": [1, {}]}}},
        "verified": [1],
        "userinfo": None,
    }
    assert received(shop, ask(browser.signed_in(ada), shop, claims, scope="openid"))["id_token"]["given_name"] == "Ada"


def nested(depth: int) -> str:
    return '{"id_token": {"email": {"value": %s}}}' % ("[" * depth + "]" * depth)


MALFORMED = {
    "no JSON": "{",
    "null": "null",
    "array": "[]",
    "text": '"sub"',
    "member is no object": '{"id_token": [1]}',
    "claim is no object": '{"userinfo": {"email": true}}',
    "claim is a text": '{"id_token": {"email": "x"}}',
    "values is no array": '{"userinfo": {"email": {"values": "x"}}}',
    "values of an unknown claim": '{"userinfo": {"unknown": {"values": {}}}}',
    "essential is no boolean": '{"id_token": {"email": {"essential": "true"}}}',
    "subject is a number": '{"userinfo": {"sub": {"value": 5}}}',
    "a subject is a number": '{"id_token": {"sub": {"values": ["x", 5]}}}',
    "no subject": '{"id_token": {"sub": {"values": []}}}',
    "subject not among the values": '{"id_token": {"sub": {"value": "a", "values": ["b"]}}}',
    "claim twice": '{"id_token": {"sub": {"value": "a"}, "sub": {"value": "b"}}}',
    "member twice": '{"id_token": {}, "id_token": {}}',
    "not a number": '{"id_token": {"updated_at": {"value": NaN}}}',
    "infinite": '{"id_token": {"updated_at": {"value": 1e999}}}',
    "lone surrogate": '{"id_token": {"email": {"value": "\\ud800"}}}',
    "null character": '{"id_token": {"email": {"value": "\\u0000"}}}',
    "null character in a name": '{"id_token": {"email": {"value": {"\\u0000": 1}}}}',
    "too deep": nested(6),
    "far too deep": nested(1_800),
    "too long": json.dumps({"id_token": {"email": {"value": "x" * 4_000}}}),
}


def test_malformed_claims_are_refused(
    shop: RelyingParty, browser: Browser, ada: Person, subtests: pytest.Subtests
) -> None:
    for case, text in MALFORMED.items():
        with subtests.test(case):
            stored = parameters_of(ask(browser.signed_in(ada), shop, text))
            assert (stored["error"], stored["state"]) == ("invalid_request", "a state")


def test_deepest_value_is_served(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    step = ask(browser.signed_in(ada), shop, nested(5), scope="openid")
    assert "email" not in received(shop, step)["id_token"]


def test_pushed_request_and_object_carry_values(
    world: World, browser: Browser, ada: Person, shop: RelyingParty
) -> None:
    pushed = shop.push(claims='{"id_token": {"sub": {"value": "absent"}}}', prompt="none").json or {}
    step = browser.signed_in(ada).authorize({"client_id": shop.client_id, "request_uri": pushed["request_uri"]})
    assert error(step) == "login_required"
    refused = shop.push(claims='{"id_token": {"sub": {"values": 5}}}')
    assert (refused.status_code, (refused.json or {})["error"]) == (400, "invalid_request")
