"""DPoP: tokens that are bound to a key of their sender (RFC 9449)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.oauth import oauth_metadata
from app.identity.credentials.tokens import tokens
from app.identity.platform.services import IdentityServices
from app.identity.protocols.oauth.sender_constraints import dpop
from tests.support.oauth.dpop import Prover
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
from tests.support.oauth.signed_requests import client_key
from tests.support.oauth.world import World
from tests.support.tenants.callers import call_of

MANAGE = "http://api.localhost:8000/identity/v2/manage"


def status_and_error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {})["error"]


@pytest.fixture
def prover(shop: RelyingParty) -> Prover:
    return Prover(shop)


@pytest.fixture
def spa(world: World) -> Prover:
    """A public client with a key."""
    return Prover(world.application("spa", secret=None, cors_origins=["https://app.example"]))


def spa_tokens(spa: Prover, browser: Browser, person: Person) -> dict[str, Any]:
    pkce = Pkce()
    code = browser.code(spa.client, person, code_challenge=pkce.challenge)
    stored: dict[str, Any] = spa.redeem(code, code_verifier=pkce.verifier).get_json()
    return stored


@pytest.mark.parametrize("algorithm", dpop.ALGORITHMS)
def test_code_with_dpop_proof_gets_bound_tokens(
    shop: RelyingParty, browser: Browser, ada: Person, algorithm: str
) -> None:
    """(RFC 9449 section 5)"""
    prover = Prover(shop, algorithm, client_key(algorithm))
    stored = prover.bound(browser, ada)
    assert stored["token_type"] == "DPoP"
    person = prover.userinfo(stored["access_token"])
    assert (person.status_code, (person.json or {})["email"]) == (200, ada.email)


def test_without_dpop_proof_tokens_are_bearer_tokens(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 5)"""
    answer = shop.redeem(browser.code(shop, ada))
    assert (answer.json or {})["token_type"] == "Bearer"
    assert "DPoP-Nonce" not in answer.headers


def test_nonce_is_offered_and_accepted(prover: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 8.2)"""
    answer = prover.redeem(browser.code(prover.client, ada))
    prover.nonce = answer.headers["DPoP-Nonce"]
    stored = prover.bound(browser, ada)
    again = prover.userinfo(stored["access_token"])
    assert (again.status_code, again.headers["DPoP-Nonce"]) == (200, prover.nonce)


def test_client_that_needs_a_nonce_retries(world: World, browser: Browser, ada: Person) -> None:
    """(RFC 9449 sections 8 and 9)"""
    prover = Prover(world.application("careful", require_dpop_nonce=True, dpop_bound_access_tokens=True))
    code = browser.code(prover.client, ada)
    answer = prover.redeem(code)
    assert status_and_error(answer) == (400, "use_dpop_nonce")
    prover.nonce = answer.headers["DPoP-Nonce"]
    token = (prover.redeem(code).json or {})["access_token"]
    prover.nonce = None
    answer = prover.userinfo(token)
    assert status_and_error(answer) == (401, "use_dpop_nonce")
    assert answer.headers["WWW-Authenticate"].startswith('DPoP error="use_dpop_nonce", ')
    prover.nonce = answer.headers["DPoP-Nonce"]
    assert prover.userinfo(token).status_code == 200


def test_nonce_serves_a_sender_with_a_wrong_clock(prover: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 11.1)"""
    prover.nonce = prover.redeem("unknown").headers["DPoP-Nonce"]
    dpop_proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token", iat=1)
    code = browser.code(prover.client, ada)
    assert prover.redeem(code, dpop_proof).status_code == 200
    assert status_and_error(prover.redeem(code, dpop_proof)) == (400, "invalid_dpop_proof"), (
        "it is used once all the same"
    )


@pytest.mark.parametrize("nonce", ["unknown", "", 7, "\ud800", "x" * 2_000])
def test_unknown_nonce_is_refused(prover: Prover, nonce: object) -> None:
    """(RFC 9449 section 8)"""
    dpop_proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token", nonce=nonce)
    assert status_and_error(prover.redeem("unknown", dpop_proof)) == (400, "use_dpop_nonce")


def test_nonces_rotate_and_belong_to_a_tenant(
    services: IdentityServices, prover: Prover, foreign_shop: RelyingParty
) -> None:
    """(RFC 9449 section 8): stateless, good for one to three minutes."""
    foreign = Prover(foreign_shop)
    foreign.nonce = prover.redeem("unknown").headers["DPoP-Nonce"]
    assert status_and_error(foreign.redeem("unknown")) == (400, "use_dpop_nonce")
    prover.nonce = foreign.nonce
    with moved(services, seconds=dpop.NONCE_SECONDS):
        answer = prover.redeem("unknown")
        assert status_and_error(answer) == (400, "invalid_grant")
        assert answer.headers["DPoP-Nonce"] != prover.nonce
    with moved(services, seconds=3 * dpop.NONCE_SECONDS):
        assert status_and_error(prover.redeem("unknown")) == (400, "use_dpop_nonce")


def test_bound_token_is_no_bearer_token(prover: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 7.2)"""
    token = prover.bound(browser, ada)["access_token"]
    plain, with_dpop_proof = prover.client.userinfo(token), prover.userinfo(token, scheme="Bearer")
    in_body = prover.client.post("/service/oidc/userinfo", {"access_token": token})
    for answer in (plain, with_dpop_proof, in_body):
        assert status_and_error(answer) == (401, "invalid_token")
        challenge = answer.headers["WWW-Authenticate"]
        assert challenge.startswith('DPoP error="invalid_token", ')
        assert challenge.endswith('algs="ES256 PS256 RS256 EdDSA Ed25519"')
    assert prover.userinfo(token).status_code == 200


def test_bearer_token_is_no_bound_token(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 7.1)"""
    token = (shop.redeem(browser.code(shop, ada)).json or {})["access_token"]
    assert status_and_error(Prover(shop).userinfo(token)) == (401, "invalid_token")
    assert shop.userinfo(token).status_code == 200


WRONG_AT_RESOURCES: dict[str, tuple[Callable[[Prover, str, str], str], str]] = {
    "none": (lambda *_: "", "invalid_dpop_proof"),
    "no ath": (lambda prover, address, _: prover.dpop_proof("GET", address), "invalid_dpop_proof"),
    "ath of another token": (lambda prover, address, _: prover.dpop_proof("GET", address, token="x"), "invalid_dpop_proof"),
    "another method": (lambda prover, address, token: prover.dpop_proof("POST", address, token=token), "invalid_dpop_proof"),
    "another address": (lambda prover, address, token: prover.dpop_proof("GET", f"{address}/x", token=token), "invalid_dpop_proof"),
    "another key": (lambda prover, address, token: Prover(prover.client).dpop_proof("GET", address, token=token), "invalid_token"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_AT_RESOURCES)
def test_wrong_dpop_proof_at_userinfo_is_challenged(prover: Prover, browser: Browser, ada: Person, name: str) -> None:
    """(RFC 9449 section 7.1)"""
    token = prover.bound(browser, ada)["access_token"]
    make, error = WRONG_AT_RESOURCES[name]
    answer = prover.userinfo(token, make(prover, f"{prover.client.hub_url}/service/oidc/userinfo", token))
    assert status_and_error(answer) == (401, error)
    assert answer.headers.get_all("WWW-Authenticate")[0].startswith(f'DPoP error="{error}", ')
    assert len(answer.headers.get_all("WWW-Authenticate")) == 1


@pytest.mark.parametrize("scheme", ["dpop", "DPOP", "dPOp"])
def test_scheme_is_read_in_any_letter_case(prover: Prover, browser: Browser, ada: Person, scheme: str) -> None:
    """RFC 9110 section 11.1."""
    token = prover.bound(browser, ada)["access_token"]
    assert prover.userinfo(token, scheme=scheme).status_code == 200


def test_scheme_without_dpop_proof_is_challenged(prover: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 7.1)"""
    token = prover.bound(browser, ada)["access_token"]
    answer = prover.client.get("/service/oidc/userinfo", headers={"Authorization": f"DPoP {token}"})
    assert status_and_error(answer) == (401, "invalid_dpop_proof")


def test_introspection_and_jwt_have_the_key(world: World, browser: Browser, ada: Person) -> None:
    """(RFC 9449 sections 6.1 and 6.2)"""
    prover = Prover(world.application("signed", access_token_format="jwt"))
    stored = prover.bound(browser, ada)
    assert claims_in(stored["access_token"])["cnf"] == {"jkt": prover.thumbprint}
    seen = prover.client.introspect(stored["access_token"])
    assert (seen["token_type"], seen["cnf"]) == ("DPoP", {"jkt": prover.thumbprint})
    assert "cnf" not in prover.client.introspect(stored["refresh_token"]), "its client authenticates"


def test_client_with_the_setting_must_prove(world: World, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 5.2)"""
    prover = Prover(world.application("bound", dpop_bound_access_tokens=True))
    code = browser.code(prover.client, ada)
    assert status_and_error(prover.client.redeem(code)) == (400, "invalid_dpop_proof")
    body = prover.redeem(code).json or {}
    assert status_and_error(prover.client.refresh(body["refresh_token"])) == (400, "invalid_dpop_proof")
    assert (prover.refresh(body["refresh_token"]).json or {})["token_type"] == "DPoP"


def test_refresh_token_of_public_client_is_bound(spa: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 5)"""
    stored = spa_tokens(spa, browser, ada)
    stolen = stored["refresh_token"]
    assert status_and_error(Prover(spa.client).refresh(stolen)) == (400, "invalid_grant")
    assert status_and_error(spa.client.refresh(stolen)) == (400, "invalid_grant")
    renewed = spa.refresh(stolen)
    assert renewed.status_code == 200, "the attempts did not use it up"
    assert spa.userinfo((renewed.json or {})["access_token"]).status_code == 200
    assert status_and_error(Prover(spa.client).refresh((renewed.json or {})["refresh_token"])) == (400, "invalid_grant")


def test_confidential_client_may_change_its_key(prover: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 5)"""
    stored = prover.bound(browser, ada)
    other = Prover(prover.client)
    renewed = other.refresh(stored["refresh_token"]).json or {}
    assert other.userinfo(renewed["access_token"]).status_code == 200
    assert status_and_error(prover.userinfo(renewed["access_token"])) == (401, "invalid_token")
    assert status_and_error(prover.client.refresh(renewed["refresh_token"])) == (400, "invalid_grant"), (
        "not back to bearer tokens"
    )


def test_bearer_tokens_may_become_bound(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 5)"""
    body = shop.redeem(browser.code(shop, ada)).json or {}
    prover = Prover(shop)
    renewed = prover.refresh(body["refresh_token"]).json or {}
    assert prover.userinfo(renewed["access_token"]).status_code == 200


def test_device_and_machine_get_bound_tokens(world: World, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 5): every grant."""
    device = "urn:ietf:params:oauth:grant-type:device_code"
    prover = Prover(world.application("tv", grant_types=[device, "client_credentials"], redirect_uris=[]))
    started = prover.client.start_device(scope="openid").json or {}
    step = browser.signed_in(ada).type_code(started["user_code"])
    browser.allow_device(step.interaction_id)
    form = {"grant_type": device, "device_code": started["device_code"], **prover.client.client_credentials()}
    body = prover.post("token", form).json or {}
    assert (body["token_type"], prover.userinfo(body["access_token"]).status_code) == ("DPoP", 200)
    form = {"grant_type": "client_credentials", **prover.client.client_credentials()}
    assert (prover.post("token", form).json or {})["token_type"] == "DPoP"


def test_machine_token_is_bound_at_management(world: World) -> None:
    """(RFC 9449 section 7)"""
    robot = world.application(
        "robot", grant_types=["client_credentials"], redirect_uris=[], audience_scopes={MANAGE: ["profile:read"]},
        dpop_bound_access_tokens=True,
    )  # fmt: skip
    prover = Prover(robot)
    form = {"grant_type": "client_credentials", "audience": MANAGE, **robot.client_credentials()}
    assert status_and_error(robot.post("/service/oauth/token", form)) == (400, "invalid_dpop_proof")
    dpop_proof = prover.dpop_proof("POST", f"{robot.hub_url}/service/oauth/token")
    body = robot.post("/service/oauth/token", form, headers={"DPoP": dpop_proof}).json or {}
    assert (body["token_type"], claims_in(body["access_token"])["cnf"]) == ("DPoP", {"jkt": prover.thumbprint})

    def read(scheme: str, **headers: str) -> TestResponse:
        named = {"Authorization": f"{scheme} {body['access_token']}", **headers}
        base = f"http://{world.services.settings.api_hostname}"
        return world.wsgi.get(
            "/identity/v2/manage/account", query_string={"email": "x@example.test"}, base_url=base, headers=named
        )

    address = f"{world.services.settings.base_url}/identity/v2/manage/account"
    good = read("DPoP", DPoP=prover.dpop_proof("GET", address, token=body["access_token"]))
    assert (good.json or {})["ErrorCode"] == 938, "the account is looked for"
    for refused in (read("Bearer"), read("DPoP")):
        assert (refused.status_code, (refused.json or {})["ErrorCode"]) == (403, 6002)
        assert refused.headers["WWW-Authenticate"].startswith("DPoP error=")


def test_account_operations_take_bound_tokens(world: World, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 7)"""
    prover = Prover(world.application("desk", interface_access="read"))
    token = prover.bound(browser, ada)["access_token"]
    base, path = f"http://{world.services.settings.api_hostname}", "/identity/v2/auth/account"

    def read(headers: dict[str, str], **query: str) -> TestResponse:
        stored = {"apikey": world.api_key, **query}
        return world.wsgi.get(path, query_string=stored, base_url=base, headers=headers)

    address = f"{world.services.settings.base_url}{path}"
    good = {"Authorization": f"DPoP {token}", "DPoP": prover.dpop_proof("GET", address, token=token)}
    assert (read(good).json or {})["Uid"] == ada.uid
    for refused in (read(good), read({"Authorization": f"Bearer {token}"}), read({}, access_token=token)):
        assert (refused.status_code, (refused.json or {})["errorCode"]) == (401, 1409)
        assert refused.headers["WWW-Authenticate"].startswith("DPoP error=")


def test_bound_token_is_no_parameter(services: IdentityServices, prover: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 7.2): where an operation takes another account's token besides, nothing shows who sent it."""
    bearer = (prover.client.redeem(browser.code(prover.client, ada)).json or {})["access_token"]
    bound = prover.bound(browser, ada)["access_token"]
    with call_of(services, prover.client.tenant_name) as context:
        context.operation = oauth_metadata.userinfo
        assert tokens.find(context, bearer) is not None
        assert tokens.find(context, bound) is None


def test_code_is_bound_by_dpop_jkt(prover: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 10)"""
    code = browser.code(prover.client, ada, dpop_jkt=prover.thumbprint)
    assert status_and_error(Prover(prover.client).redeem(code)) == (400, "invalid_grant")
    assert status_and_error(prover.client.redeem(code)) == (400, "invalid_grant")
    assert prover.redeem(code).status_code == 200


@pytest.mark.parametrize("text", ["x", "x" * 44, "+" * 43])
def test_malformed_dpop_jkt_is_refused(shop: RelyingParty, browser: Browser, ada: Person, text: str) -> None:
    """(RFC 9449 section 10)"""
    step = browser.signed_in(ada).authorize(shop.authorization_parameters(dpop_jkt=text))
    assert parameters_of(step)["error"] == "invalid_request"
    assert status_and_error(shop.push(dpop_jkt=text)) == (400, "invalid_request")


def push(prover: Prover, **changed: str | None) -> TestResponse:
    form = {**prover.client.authorization_parameters(), **prover.client.client_credentials(), **changed}
    return prover.post("par", form)


@pytest.mark.parametrize("states_key", [True, False])
def test_pushed_request_binds_its_code(prover: Prover, browser: Browser, ada: Person, states_key: bool) -> None:
    """(RFC 9449 section 10.1): by the proof, by `dpop_jkt` or by both."""
    answer = push(prover, dpop_jkt=prover.thumbprint if states_key else None)
    assert (answer.status_code, "DPoP-Nonce" in answer.headers) == (201, True)
    taken = {"client_id": prover.client.client_id, "request_uri": (answer.json or {})["request_uri"]}
    code = code_of(browser.signed_in(ada).authorize(taken))
    assert status_and_error(Prover(prover.client).redeem(code)) == (400, "invalid_grant")
    assert prover.redeem(code).status_code == 200


def test_pushed_request_with_two_keys_is_refused(prover: Prover) -> None:
    """(RFC 9449 section 10.1)"""
    assert status_and_error(push(prover, dpop_jkt=Prover(prover.client).thumbprint)) == (400, "invalid_dpop_proof")


def test_wrong_dpop_proof_of_pushed_request_is_refused(world: World, prover: Prover) -> None:
    """(RFC 9449 section 10.1)"""
    form = {**prover.client.authorization_parameters(), **prover.client.client_credentials()}
    dpop_proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token")
    assert status_and_error(prover.post("par", form, dpop_proof)) == (400, "invalid_dpop_proof")
    careful = Prover(world.application("careful", require_dpop_nonce=True))
    answer = push(careful)
    assert status_and_error(answer) == (400, "use_dpop_nonce")
    careful.nonce = answer.headers["DPoP-Nonce"]
    assert push(careful).status_code == 201


def test_metadata_names_the_algorithms(prover: Prover) -> None:
    """(RFC 9449 section 5.1)"""
    body = prover.client.get("/.well-known/openid-configuration").json or {}
    assert body["dpop_signing_alg_values_supported"] == list(dpop.ALGORITHMS)


def test_browser_code_may_send_dpop_proofs_and_read_nonces(spa: Prover) -> None:
    """(RFC 9449 section 8)"""
    origin = {"Origin": "https://app.example"}
    parameters = {**origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "dpop"}
    answer = spa.client.wsgi.options("/api/oidc/token", headers=parameters, base_url=spa.client.hub_url)
    assert answer.headers["Access-Control-Allow-Headers"] == "dpop"
    form = {"grant_type": "authorization_code", "code": "x", "redirect_uri": "x", "client_id": spa.client.client_id}
    dpop_proof = spa.dpop_proof("POST", f"{spa.client.hub_url}/api/oidc/token")
    answer = spa.client.back("token", form, headers={**origin, "DPoP": dpop_proof})
    assert "DPoP-Nonce" in answer.headers["Access-Control-Expose-Headers"].split(", ")
    assert answer.headers["DPoP-Nonce"]
