"""Devices ask for what they may do once (RFC 9396 section 3, RFC 8628 section 3.1): checked, shown, kept with the tokens, narrowed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.contract.applications.file import DEVICE_GRANT
from app.contract.steps import DeviceStep
from tests.support.oauth.authorization_details import BOTH, PAYMENT, REFUSED, TYPES
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in
from tests.support.oauth.world import NewWorld, World


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(authorization_details_types=TYPES)


@pytest.fixture
def till(world: World) -> RelyingParty:
    return world.application(
        "till",
        client_id="till",
        grant_types=[DEVICE_GRANT, "refresh_token"],
        redirect_uris=[],
        authorization_details_types=["payment", "https://bank.example/accounts"],
        access_token_format="jwt",
    )


def allowed(till: RelyingParty, browser: Browser, person: Person, details: Any) -> str:
    """Return the device's code after the person allowed the details."""
    body = till.start_device(scope="openid", authorization_details=json.dumps(details)).json or {}
    step = browser.signed_in(person).type_code(body["user_code"])
    assert browser.allow_device(step.interaction_id).outcome == "allowed"
    return str(body["device_code"])


def test_page_gets_every_value_of_a_device(till: RelyingParty, browser: Browser, ada: Person) -> None:
    body = till.start_device(authorization_details=json.dumps(BOTH)).json or {}
    step = browser.signed_in(ada).type_code(body["user_code"])
    assert step.kind is DeviceStep
    payment, listing = step.details
    assert (payment.type, payment.title) == ("payment", {"en": "Make a payment"})
    assert {line.name: sorted(line.values) for line in payment.lines} == {
        "amount": ["currency: EUR", "value: 123.50"],
        "locations": ["https://bank.example"],
    }
    assert {line.name: line.values for line in listing.lines} == {"actions": ["list", "read"], "identifier": ["DE02"]}
    assert [detail.type for detail in browser.resume(step.interaction_id or "").details] == [payment.type, listing.type]


def test_device_gets_the_allowed_details(till: RelyingParty, browser: Browser, ada: Person) -> None:
    body = till.poll(allowed(till, browser, ada, BOTH)).json or {}
    assert body["authorization_details"] == BOTH
    assert claims_in(body["access_token"])["authorization_details"] == BOTH
    assert till.introspect(body["access_token"])["authorization_details"] == BOTH
    assert (till.refresh(body["refresh_token"]).json or {})["authorization_details"] == BOTH


def test_json_body_brings_details_as_an_array(till: RelyingParty, browser: Browser, ada: Person) -> None:
    body = {**till.client_credentials(), "authorization_details": [PAYMENT]}
    answer = till.wsgi.post("/api/oidc/device", json=body, base_url=till.hub_url).json or {}
    assert [detail.type for detail in browser.signed_in(ada).type_code(answer["user_code"]).details] == ["payment"]


def test_poll_narrows_details_and_adds_none(till: RelyingParty, browser: Browser, ada: Person) -> None:
    code = allowed(till, browser, ada, BOTH)
    wider = {**PAYMENT, "amount": {"currency": "EUR", "value": "9123.50"}}
    for text in (json.dumps([wider]), json.dumps([{"type": "other"}]), "[", "[]"):
        refused = till.poll(code, authorization_details=text)
        assert (refused.status_code, (refused.json or {})["error"]) == (400, "invalid_authorization_details")
    body = till.poll(code, authorization_details=json.dumps([PAYMENT])).json or {}
    assert body["authorization_details"] == [PAYMENT]
    assert (till.refresh(body["refresh_token"]).json or {})["authorization_details"] == BOTH


def test_device_without_details_gets_none_at_its_poll(till: RelyingParty, browser: Browser, ada: Person) -> None:
    body = till.start_device(scope="openid").json or {}
    browser.allow_device(browser.signed_in(ada).type_code(body["user_code"]).interaction_id)
    refused = till.poll(body["device_code"], authorization_details=json.dumps([PAYMENT]))
    assert (refused.json or {})["error"] == "invalid_authorization_details"
    tokens = till.poll(body["device_code"]).json or {}
    assert "authorization_details" not in tokens
    assert "authorization_details" not in claims_in(tokens["access_token"])


def test_denied_details_give_no_token(till: RelyingParty, browser: Browser, ada: Person) -> None:
    body = till.start_device(authorization_details=json.dumps([PAYMENT])).json or {}
    browser.allow_device(browser.signed_in(ada).type_code(body["user_code"]).interaction_id, allow=False)
    assert (till.poll(body["device_code"]).json or {})["error"] == "access_denied"


def test_malformed_details_of_a_device_are_refused(till: RelyingParty, subtests: pytest.Subtests) -> None:
    for details in REFUSED:
        with subtests.test(str(details)[:60]):
            answer = till.start_device(
                authorization_details=details if isinstance(details, str) else json.dumps(details)
            )
            assert (answer.status_code, (answer.json or {})["error"]) == (400, "invalid_authorization_details")
            assert "device_code" not in (answer.json or {})


def test_unregistered_type_of_a_device_is_refused(world: World, till: RelyingParty) -> None:
    other = world.application("tv", client_id="tv", grant_types=[DEVICE_GRANT], redirect_uris=[])
    for client, kind in ((till, "other"), (other, "payment")):
        details = json.dumps([{"type": kind, "amount": "1"} if kind == "payment" else {"type": kind}])
        answer = client.start_device(authorization_details=details)
        assert (answer.status_code, (answer.json or {})["error"]) == (400, "invalid_authorization_details")
