"""What a client may do counts when it is answered, not when its request was opened or pushed (decision 0314)."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.applications.file import DEVICE_GRANT
from app.contract.steps import ConsentStep, DeviceCodeStep, DeviceDoneStep, DeviceStep, LoginStep, StartAgainStep
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.relying_party import (
    Browser,
    Person,
    Pkce,
    RelyingParty,
    claims_in,
    code_of,
    moved,
    parameters_of,
)
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import World
from tests.support.visitors.answered_step import AnsweredStep

API = "https://api.example"
DETAILS: dict[str, Any] = {"payment": {"fields": {"amount": {"required": True}}}, "receipt": {}}
TIGHTER: dict[str, dict[str, Any]] = {
    "push": {"require_pushed_authorization_requests": True},
    "signature": {"require_signed_request_object": True},
    "response mode": {"response_modes": ["jwt"]},
    "challenge": {"require_pkce": True},
    "profile": {"security_profile": "fapi2"},
    "public": {"token_endpoint_auth_method": "none"},
    "grant": {"grant_types": ["client_credentials"]},
    "response type": {"response_types": []},
    "scope": {"scope": "openid"},
    "resource": {"resources": []},
    "details": {"authorization_details_types": []},
    "inactive": {"is_active": False},
    "address": {"redirect_uris": ["https://shop.example/new"]},
}
"""Changes after which the plain request of `opened` would be refused."""
WIDER: dict[str, dict[str, Any]] = {
    "name": {"client_name": "Another name"},
    "scope": {"scope": "openid email profile phone"},
    "plain challenges": {"allow_plain_pkce": True},
    "address": {"redirect_uris": ["https://shop.example/cb", "https://shop.example/new"]},
}


@pytest.fixture
def detailed(world: World) -> World:
    world.change_settings(authorization_details_types=DETAILS)
    return world


def opened(world: World, browser: Browser, number: int) -> tuple[RelyingParty, AnsweredStep]:
    """Open a request that uses all that its client may do, in a browser that is signed out; return the client and the page."""
    client = world.application(
        f"client-{number}",
        resources=[API],
        authorization_details_types=["payment"],
        jwks=public_jwks(client_key("ES256")),
    )
    details = '[{"type": "payment", "amount": "7"}]'
    step = browser.authorize(client.authorization_parameters(resource=API, authorization_details=details))
    assert step.kind is LoginStep
    return client, step


def test_sign_in_of_a_tightened_client_starts_again(detailed: World, ada: Person, subtests: pytest.Subtests) -> None:
    for number, (name, settings) in enumerate(TIGHTER.items()):
        with subtests.test(name):
            browser = detailed.browser()
            client, page = opened(detailed, browser, number)
            detailed.change(client, **settings)
            step = browser.sign_in(page.interaction_id, ada.email, ada.password)
            assert (step.kind, step.address) == (StartAgainStep, None)


def test_consent_of_a_tightened_client_starts_again(detailed: World, ada: Person, subtests: pytest.Subtests) -> None:
    for number, (name, settings) in enumerate(TIGHTER.items()):
        with subtests.test(name):
            browser = detailed.browser()
            client, page = opened(detailed, browser, number)
            requested = browser.sign_in(page.interaction_id, ada.email, ada.password)
            assert requested.kind is ConsentStep
            detailed.change(client, **settings)
            step = browser.consent(page.interaction_id or "", allow=True)
            assert (step.kind, step.address) == (StartAgainStep, None)


def test_sign_in_of_a_widened_client_goes_on(detailed: World, ada: Person, subtests: pytest.Subtests) -> None:
    for number, (name, settings) in enumerate(WIDER.items()):
        with subtests.test(name):
            browser = detailed.browser()
            client, page = opened(detailed, browser, number)
            detailed.change(client, **settings)
            browser.sign_in(page.interaction_id, ada.email, ada.password)
            assert code_of(browser.consent(page.interaction_id or "", allow=True))


def test_start_again_names_a_client_that_is_still_active(detailed: World, ada: Person) -> None:
    browser = detailed.browser()
    client, page = opened(detailed, browser, 0)
    detailed.change(client, require_pkce=True)
    step = browser.sign_in(page.interaction_id, ada.email, ada.password)
    assert step.relying_party is not None
    assert (step.relying_party.name, step.relying_party.home) == ("client-0", "https://shop.example/")
    assert step.relying_party.redirect_origin is None


def test_request_as_demanded_survives_the_demand(world: World, ada: Person) -> None:
    client = world.application("careful", jwks=public_jwks(client_key("ES256")))
    pkce, browser = Pkce(), world.browser()
    text = Signer(client).request_object(code_challenge=pkce.challenge)
    beside = {**dict.fromkeys(client.authorization_parameters()), "client_id": client.client_id}
    body = client.push(**{**beside, "request": text}).json or {}
    page = browser.authorize({"client_id": client.client_id, "request_uri": body["request_uri"]})
    world.change(
        client,
        require_pushed_authorization_requests=True,
        require_signed_request_object=True,
        require_pkce=True,
    )
    step = browser.sign_in(page.interaction_id, ada.email, ada.password)
    assert client.redeem(code_of(step), code_verifier=pkce.verifier).status_code == 200


def test_tokens_need_the_grant_when_they_are_issued(world: World, ada: Person) -> None:
    types, browser = ["code", "id_token token"], world.browser()
    client = world.application("implicit", grant_types=["authorization_code", "implicit"], response_types=types)
    parameters = client.authorization_parameters(response_type="id_token token", nonce="n")
    page = browser.authorize(parameters)
    world.change(client, grant_types=["authorization_code"])
    step = browser.sign_in(page.interaction_id, ada.email, ada.password)
    assert (step.kind, step.address) == (StartAgainStep, None)


def test_unsigned_push_is_refused_once_signing_is_due(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("pushing", jwks=public_jwks(client_key("ES256")))
    body = client.push().json or {}
    world.change(client, require_signed_request_object=True)
    step = browser.signed_in(ada).authorize({"client_id": client.client_id, "request_uri": body["request_uri"]})
    refused = parameters_of(step)
    assert (refused["error"], "code" in refused) == ("invalid_request", False)


AT_TOKENS: dict[str, tuple[dict[str, Any], str]] = {
    "inactive": ({"is_active": False}, "invalid_client"),
    "method": ({"token_endpoint_auth_method": "client_secret_basic"}, "invalid_client"),
    "key": ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client"),
    "grants": ({"grant_types": ["client_credentials"]}, "unauthorized_client"),
    "bound": ({"dpop_bound_access_tokens": True}, "invalid_dpop_proof"),
    "profile": ({"security_profile": "fapi2"}, "invalid_dpop_proof"),
}
"""Changes of a client, and what its token requests get then."""


def test_token_request_follows_the_changed_client(world: World, ada: Person, subtests: pytest.Subtests) -> None:
    browser = world.browser().signed_in(ada)
    for name, (settings, error) in AT_TOKENS.items():
        with subtests.test(name):
            client = world.application(f"client-{name}")
            tokens = client.redeem(browser.code(client, ada)).json or {}
            code = browser.code(client, ada)
            refreshed = client.refresh(tokens["refresh_token"]).json or {}
            assert client.userinfo(refreshed["access_token"]).status_code == 200
            assert client.introspect(refreshed["access_token"])["active"]
            world.change(client, **settings)
            answers = client.redeem(code), client.refresh(refreshed["refresh_token"])
            assert [(answer.json or {})["error"] for answer in answers] == [error] * 2


def test_tokens_of_an_inactive_client_are_no_longer_valid(world: World, shop: RelyingParty, ada: Person) -> None:
    browser, reader = world.browser(), world.application("reader", resource_server=True)
    token = (shop.redeem(browser.code(shop, ada)).json or {})["access_token"]
    for _ in range(2):
        assert shop.userinfo(token).status_code == 200
        assert reader.introspect(token)["active"]
    world.change(shop, is_active=False)
    assert shop.userinfo(token).status_code == 401
    assert reader.introspect(token) == {"active": False}


def test_tokens_of_a_deleted_client_are_no_longer_valid(world: World, shop: RelyingParty, ada: Person) -> None:
    reader = world.application("reader", resource_server=True)
    token = (shop.redeem(world.browser().code(shop, ada)).json or {})["access_token"]
    assert reader.introspect(token)["active"]
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        tenant_writes.remove_application(work, shop.client_id)
        tenant_writes.change(work)
    world.services.directory.clear_cache()
    assert shop.userinfo(token).status_code == 401
    assert reader.introspect(token) == {"active": False}


@pytest.mark.parametrize("demand", [{"force_reauthentication": True}, {"default_max_age": 60}], ids=["always", "older"])
def test_new_demand_for_a_sign_in_meets_an_older_session(world: World, ada: Person, demand: dict[str, Any]) -> None:
    client = world.application("asking", require_consent=True)
    browser = world.browser().signed_in(ada)
    with moved(world.services, minutes=2):
        page = browser.authorize(client.authorization_parameters())
        assert page.kind is ConsentStep
        world.change(client, **demand)
        step = browser.consent(page.interaction_id or "", allow=True)
        assert (step.kind, step.reauthentication is not None) == (LoginStep, True)
        assert browser.sign_in(page.interaction_id, ada.email, ada.password).kind is ConsentStep
        assert code_of(browser.consent(page.interaction_id or "", allow=True))


def test_claims_of_a_lost_scope_end_the_sign_in(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("claiming")
    expected = '{"id_token": {"email": null}}'
    page = browser.authorize(client.authorization_parameters(scope="openid", claims=expected))
    world.change(client, scope="openid profile")
    step = browser.sign_in(page.interaction_id, ada.email, ada.password)
    assert (step.kind, step.address) == (StartAgainStep, None)


def test_tokens_have_what_their_client_may_have_now(detailed: World, browser: Browser, ada: Person) -> None:
    client = detailed.application("shrinking", authorization_details_types=["payment", "receipt"])
    details = '[{"type": "payment", "amount": "7"}, {"type": "receipt"}]'
    expected = '{"id_token": {"phone_number_verified": null, "name": null}, "userinfo": {"name": null}}'
    parameters = {"scope": "openid email", "claims": expected, "authorization_details": details}

    def seen(tokens: dict[str, Any]) -> tuple[str, list[str], bool, bool, bool]:
        profile, id_token = client.userinfo(tokens["access_token"]).json or {}, claims_in(tokens["id_token"])
        types = [token["type"] for token in tokens["authorization_details"]]
        return tokens["scope"], types, "email" in profile, "name" in profile, "name" in id_token

    page = browser.signed_in(ada).authorize(client.authorization_parameters(**parameters))
    code = code_of(browser.consent(page.interaction_id or "", allow=True))
    detailed.change(client, scope="openid profile", authorization_details_types=["receipt"])
    tokens = client.redeem(code).json or {}
    assert seen(tokens) == ("openid", ["receipt"], False, True, True)
    detailed.change(client, scope="openid")
    tokens = client.refresh(tokens["refresh_token"]).json or {}
    assert seen(tokens) == ("openid", ["receipt"], False, False, False)
    detailed.change(client, scope="openid email profile", authorization_details_types=["payment", "receipt"])
    tokens = client.refresh(tokens["refresh_token"]).json or {}
    assert seen(tokens) == ("openid email", ["payment", "receipt"], True, True, True)
    detailed.change(client, scope="openid profile")
    assert "email" not in (client.userinfo(tokens["access_token"]).json or {})


def test_userinfo_maps_no_claim_of_a_lost_scope(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("mapping", claims_mapping={"userinfo": {"nickname": "FirstName", "given": "FirstName"}})
    tokens = client.redeem(browser.code(client, ada, scope="openid profile")).json or {}
    assert (client.userinfo(tokens["access_token"]).json or {})["nickname"] == "Ada"
    world.change(client, scope="openid")
    answer = client.userinfo(tokens["access_token"]).json or {}
    assert ("nickname" in answer, answer.get("given")) == (False, "Ada")


DEVICE_LOSES = {
    "scope": "expired_token",
    "resource": "expired_token",
    "details": "expired_token",
    "inactive": "invalid_client",
    "grant": "unauthorized_client",
}
"""Changes after which the request of `device_started` would be refused, and what the device then gets in place of tokens."""


def device_started(world: World, number: int) -> tuple[RelyingParty, dict[str, Any]]:
    """Start the sign-in of a device that uses all that its client may do."""
    client = world.application(
        f"device-{number}",
        grant_types=[DEVICE_GRANT],
        redirect_uris=[],
        resources=[API],
        authorization_details_types=["payment"],
    )
    details = '[{"type": "payment", "amount": "7"}]'
    answer = client.start_device(scope="openid email", resource=API, authorization_details=details)
    assert answer.status_code == 200, answer.text
    return client, answer.json or {}


def test_device_of_a_tightened_client_is_not_allowed(detailed: World, ada: Person, subtests: pytest.Subtests) -> None:
    browser = detailed.browser().signed_in(ada)
    for number, name in enumerate(DEVICE_LOSES):
        client, stored = device_started(detailed, number)
        with subtests.test(f"{name}, code typed"):
            typed = browser.type_code(stored["user_code"])
            assert typed.kind is DeviceStep
            detailed.change(client, **TIGHTER[name])
            assert browser.resume(typed.interaction_id or "").kind is DeviceDoneStep
            done = browser.allow_device(typed.interaction_id)
            assert (done.kind, done.outcome) == (DeviceDoneStep, "expired")
        with subtests.test(f"{name}, code not typed"):
            step = browser.type_code(stored["user_code"])
            assert step.kind is DeviceCodeStep
            assert (client.poll(stored["device_code"]).json or {})["error"] == DEVICE_LOSES[name]


def test_tightened_client_gets_no_tokens_for_an_allowed_device(
    detailed: World, ada: Person, subtests: pytest.Subtests
) -> None:
    browser = detailed.browser().signed_in(ada)
    for number, (name, error) in enumerate(DEVICE_LOSES.items()):
        with subtests.test(name):
            client, stored = device_started(detailed, number)
            assert browser.allow_device(browser.type_code(stored["user_code"]).interaction_id).outcome == "allowed"
            detailed.change(client, **TIGHTER[name])
            assert (client.poll(stored["device_code"]).json or {})["error"] == error


def test_device_of_a_widened_client_gets_its_tokens(detailed: World, browser: Browser, ada: Person) -> None:
    client, stored = device_started(detailed, 0)
    step = browser.signed_in(ada).type_code(stored["user_code"])
    detailed.change(client, **WIDER["scope"])
    assert browser.allow_device(step.interaction_id).outcome == "allowed"
    assert (client.poll(stored["device_code"]).json or {})["scope"] == "openid email"
