"""Rich authorization requests (RFC 9396): checked against the tenant's types, shown, kept with the tokens, narrowed at most."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.contract.steps import ConsentStep, RedirectStep
from tests.support.oauth.authorization_details import ACCOUNTS, BOTH, PAYMENT, REFUSED, TYPES
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, code_of, parameters_of
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.answered_step import AnsweredStep


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(authorization_details_types=TYPES)


@pytest.fixture
def bank(world: World) -> RelyingParty:
    return world.application(
        "bank", authorization_details_types=["payment", "https://bank.example/accounts"], access_token_format="jwt"
    )


def requesting(client: RelyingParty, details: Any, **changed: str | None) -> dict[str, str | None]:
    text = details if isinstance(details, str) else json.dumps(details)
    return client.authorization_parameters(authorization_details=text, **changed)


def allowed(browser: Browser, client: RelyingParty, person: Person, details: Any = BOTH) -> dict[str, Any]:
    """Return the token response after the person allowed the details."""
    step = browser.signed_in(person).authorize(requesting(client, details))
    return client.redeem(code_of(browser.consent(step.interaction_id or "", allow=True))).json or {}


def error_of(step: AnsweredStep) -> str:
    return parameters_of(step)["error"]


def test_consent_page_gets_every_value(bank: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.signed_in(ada).authorize(requesting(bank, BOTH))
    assert step.kind is ConsentStep
    payment, listing = step.details
    assert (payment.type, payment.title) == ("payment", {"en": "Make a payment"})
    assert [(line.name, line.values) for line in payment.lines] == [
        ("amount", ["currency: EUR", "value: 123.50"]),
        ("locations", ["https://bank.example"]),
    ]
    assert payment.lines[0].label == {"en": "Amount"}
    assert [(line.name, line.values) for line in listing.lines] == [
        ("actions", ["list", "read"]),
        ("identifier", ["DE02"]),
    ]


def test_details_are_asked_each_time(bank: RelyingParty, browser: Browser, ada: Person) -> None:
    allowed(browser, bank, ada)
    assert browser.authorize(requesting(bank, BOTH)).kind is ConsentStep
    assert error_of(browser.authorize(requesting(bank, BOTH, prompt="none"))) == "consent_required"
    assert browser.authorize(bank.authorization_parameters()).kind is RedirectStep


def test_denied_details_give_no_code(bank: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.signed_in(ada).authorize(requesting(bank, BOTH))
    assert error_of(browser.consent(step.interaction_id or "", allow=False)) == "access_denied"


def test_details_are_in_response_token_and_introspection(bank: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = allowed(browser, bank, ada)
    assert stored["authorization_details"] == BOTH
    assert claims_in(stored["access_token"])["authorization_details"] == BOTH
    assert bank.introspect(stored["access_token"])["authorization_details"] == BOTH
    assert bank.introspect(stored["refresh_token"])["authorization_details"] == BOTH


def test_token_request_narrows_details(bank: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.signed_in(ada).authorize(requesting(bank, BOTH))
    code = code_of(browser.consent(step.interaction_id or "", allow=True))
    wider = {**PAYMENT, "amount": {"currency": "EUR", "value": "9123.50"}}
    for stated in ([wider], [*BOTH, {"type": "other"}], [{"type": "payment"}], "[", "{}", "[]"):
        text = stated if isinstance(stated, str) else json.dumps(stated)
        refused = bank.redeem(code, authorization_details=text)
        assert (refused.status_code, (refused.json or {})["error"]) == (400, "invalid_authorization_details")
    body = bank.redeem(code, authorization_details=json.dumps([ACCOUNTS])).json or {}
    assert body["authorization_details"] == [ACCOUNTS]
    assert bank.introspect(body["access_token"])["authorization_details"] == [ACCOUNTS]


def test_refresh_keeps_and_narrows_details(bank: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = allowed(browser, bank, ada)
    narrowed = bank.refresh(stored["refresh_token"], authorization_details=json.dumps([PAYMENT])).json or {}
    assert narrowed["authorization_details"] == [PAYMENT]
    complete = bank.refresh(narrowed["refresh_token"]).json or {}
    assert complete["authorization_details"] == BOTH
    wider = bank.refresh(complete["refresh_token"], authorization_details=json.dumps([{**PAYMENT, "creditor": "x"}]))
    assert (wider.json or {})["error"] == "invalid_authorization_details"


def test_token_request_adds_none(bank: RelyingParty, shop: RelyingParty, browser: Browser, ada: Person) -> None:
    for client in (bank, shop):
        refused = client.redeem(browser.code(client, ada), authorization_details=json.dumps([PAYMENT]))
        assert (refused.json or {})["error"] == "invalid_authorization_details"
    plain = bank.redeem(browser.code(bank, ada)).json or {}
    assert "authorization_details" not in plain
    assert "authorization_details" not in claims_in(plain["access_token"])


def test_malformed_or_foreign_details_are_refused(
    bank: RelyingParty, browser: Browser, ada: Person, subtests: pytest.Subtests
) -> None:
    for details in REFUSED:
        with subtests.test(str(details)[:60]):
            text = details if isinstance(details, str) else json.dumps(details)
            stored = parameters_of(browser.signed_in(ada).authorize(requesting(bank, text)))
            expected = "invalid_request" if len(text) > 8_000 else "invalid_authorization_details"
            assert (stored["error"], stored["state"]) == (expected, "a state")


def test_repeated_details_are_refused(bank: RelyingParty, browser: Browser) -> None:
    pairs = [(name, value) for name, value in requesting(bank, BOTH).items() if value]
    stored = parameters_of(browser.authorize([*pairs, ("authorization_details", "[]")]))
    assert stored["error"] == "invalid_request"


def test_unregistered_application_uses_no_type(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    assert error_of(browser.signed_in(ada).authorize(requesting(shop, BOTH))) == "invalid_authorization_details"


def test_details_are_pushed(bank: RelyingParty, browser: Browser, ada: Person) -> None:
    refused = bank.push(authorization_details=json.dumps([{"type": "other"}]))
    assert (refused.status_code, (refused.json or {})["error"]) == (400, "invalid_authorization_details")
    form = bank.push(authorization_details=json.dumps([PAYMENT])).json or {}
    members = {**bank.authorization_parameters(), **bank.client_credentials(), "authorization_details": [PAYMENT]}
    body = bank.wsgi.post("/api/oidc/par", json=members, base_url=bank.hub_url).json or {}
    for pushed in (form, body):
        step = browser.signed_in(ada).authorize({"client_id": bank.client_id, "request_uri": pushed["request_uri"]})
        assert [detail.type for detail in step.details] == ["payment"]


def test_details_are_in_signed_request_object(world: World, browser: Browser, ada: Person) -> None:
    client = world.application(
        "signing", jwks=public_jwks(client_key("RS256")), authorization_details_types=["payment"]
    )
    for details in ([PAYMENT], [PAYMENT, {**PAYMENT, "creditor": "x"}]):
        text = Signer(client, "RS256").request_object(authorization_details=details)
        step = browser.signed_in(ada).authorize({"client_id": client.client_id, "request": text})
        assert len(step.details) == len(details)


def test_types_are_advertised(bank: RelyingParty, foreign_shop: RelyingParty) -> None:
    address = "/.well-known/openid-configuration"
    assert set((bank.get(address).json or {})["authorization_details_types_supported"]) == set(TYPES)
    assert (foreign_shop.get(address).json or {})["authorization_details_types_supported"] == []
