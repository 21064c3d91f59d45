"""Applications of the FAPI 2.0 Security Profile (OpenID Foundation, 2025); each test names the section that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from joserfc import jws
from werkzeug.test import TestResponse

from app.identity.platform.services import IdentityServices
from app.identity.protocols.oauth.authorize import pushed
from app.identity.protocols.oauth.tokens import authorization_codes
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
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import World

ALGORITHMS = ("PS256", "ES256", "EdDSA", "Ed25519")


def status_and_error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {})["error"]


class FapiBank(Prover):
    """A client of the profile: it pushes, authenticates with its key and sends proofs."""

    signer: Signer
    pkce: Pkce

    def form(self, **members: str | None) -> dict[str, str | None]:
        return {"client_id": self.client.client_id, **self.signer.assertion(), **members}

    def push(self, **changed: str | None) -> TestResponse:
        parameters = {**self.client.authorization_parameters(), "code_challenge": self.pkce.challenge, **changed}
        return self.post("par", self.form(**parameters))

    def request_uri(self, **changed: str | None) -> dict[str, str | None]:
        answer = self.push(**changed)
        assert answer.status_code == 201, answer.text
        return {"client_id": self.client.client_id, "request_uri": (answer.json or {})["request_uri"]}

    def exchange(self, code: str, **changed: str | None) -> TestResponse:
        values = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.client.redirect_uri}
        return self.post("token", self.form(**{**values, "code_verifier": self.pkce.verifier, **changed}))

    def tokens(self, browser: Browser, person: Person) -> dict[str, Any]:
        answer = self.exchange(code_of(browser.signed_in(person).authorize(self.request_uri())))
        assert answer.status_code == 200, answer.text
        stored: dict[str, Any] = answer.get_json()
        return stored


SETTINGS: Mapping[str, Any] = {
    "security_profile": "fapi2",
    "token_endpoint_auth_method": "private_key_jwt",
    "dpop_bound_access_tokens": True,
    "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
}


@pytest.fixture
def bank(world: World) -> FapiBank:
    jwks = public_jwks(*(client_key(algorithm) for algorithm in (*ALGORITHMS, "RS256")))
    client = world.application("bank", secret=None, jwks=jwks, **SETTINGS)
    made = FapiBank(client)
    made.signer, made.pkce = Signer(client), Pkce()
    return made


def test_whole_flow_of_the_profile(bank: FapiBank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.2: pushed request, PKCE, `iss`, bound tokens."""
    step = browser.signed_in(ada).authorize(bank.request_uri(nonce="n" * 64))
    assert parameters_of(step)["iss"] == bank.client.hub_url
    body = bank.exchange(code_of(step)).json or {}
    assert body["token_type"] == "DPoP"
    assert claims_in(body["id_token"])["nonce"] == "n" * 64
    assert (bank.userinfo(body["access_token"]).json or {})["sub"] == ada.uid


def test_id_tokens_are_signed_as_the_profile_asks(bank: FapiBank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.4.1: PS256 without a setting, never RS256."""
    header = jws.extract_compact(bank.tokens(browser, ada)["id_token"].encode()).headers()
    assert header["alg"] == "PS256"


@pytest.mark.parametrize("changed", [{}, {"response_type": "code", "code_challenge": "x" * 43}])
def test_request_that_was_not_pushed_is_refused(bank: FapiBank, browser: Browser, ada: Person, changed: Any) -> None:
    """FAPI 2.0 section 5.3.2.2"""
    step = browser.signed_in(ada).authorize(bank.client.authorization_parameters(**changed))
    assert parameters_of(step)["error"] == "invalid_request"


def test_pushed_request_is_short_lived_and_used_once(
    services: IdentityServices, bank: FapiBank, browser: Browser, ada: Person
) -> None:
    """FAPI 2.0 section 5.3.2.2: less than 600 seconds."""
    assert timedelta(minutes=10) > pushed.LIFETIME
    taken = bank.request_uri()
    assert "code" in parameters_of(browser.signed_in(ada).authorize(taken))
    assert browser.authorize(taken).error == "invalid_request_uri"
    expired = bank.request_uri()
    with moved(services, seconds=pushed.LIFETIME.total_seconds() + 1):
        assert browser.authorize(expired).error == "invalid_request_uri"


def test_long_nonce_and_state_come_back_unchanged(bank: FapiBank, browser: Browser, ada: Person) -> None:
    nonce, state = "n" * 384, "s" * 1_000
    stored = parameters_of(browser.signed_in(ada).authorize(bank.request_uri(nonce=nonce, state=state)))
    assert stored["state"] == state
    tokens = bank.exchange(stored["code"]).json or {}
    assert claims_in(tokens["id_token"])["nonce"] == nonce


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"redirect_uri": None}, "invalid_request"),
        ({"redirect_uri": "https://evil.example/"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unauthorized_client"),
        ({"request_uri": "urn:ietf:params:oauth:request_uri:x"}, "invalid_request"),
    ],
)
def test_wrong_pushed_request_is_refused(bank: FapiBank, changed: dict[str, str | None], error: str) -> None:
    """FAPI 2.0 section 5.3.2.2: redirect URI, PKCE with S256, and the code flow alone."""
    assert status_and_error(bank.push(**changed))[1] == error


def test_only_authenticated_clients_push(bank: FapiBank) -> None:
    """FAPI 2.0 section 5.3.2.2"""
    bare = {**bank.client.authorization_parameters(), "code_challenge": bank.pkce.challenge}
    assert status_and_error(bank.post("par", bare)) == (401, "invalid_client")
    assert status_and_error(bank.post("par", {**bare, "client_secret": "a secret of the application"}))[0] == 401


def test_code_lives_at_most_a_minute(services: IdentityServices, bank: FapiBank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.2"""
    assert timedelta(seconds=60) >= authorization_codes.LIFETIME
    code = code_of(browser.signed_in(ada).authorize(bank.request_uri()))
    with moved(services, seconds=60):
        assert status_and_error(bank.exchange(code)) == (400, "invalid_grant")


def test_token_request_without_a_key_of_its_own_is_refused(bank: FapiBank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.1: only tokens that are bound to their sender."""
    code = code_of(browser.signed_in(ada).authorize(bank.request_uri()))
    form = bank.form(grant_type="authorization_code", code=code, redirect_uri=bank.client.redirect_uri)
    answer = bank.client.back("token", {**form, "code_verifier": bank.pkce.verifier})
    assert status_and_error(answer) == (400, "invalid_dpop_proof")
    machine = bank.client.back("token", bank.form(grant_type="client_credentials"))
    assert status_and_error(machine) == (400, "invalid_dpop_proof")
    assert (bank.post("token", bank.form(grant_type="client_credentials")).json or {})["token_type"] == "DPoP"


def test_code_is_bound_to_the_key_of_the_pushed_request(bank: FapiBank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.1 (RFC 9449 section 10.1)"""
    code = code_of(browser.signed_in(ada).authorize(bank.request_uri()))
    own, bank.key = bank.key, client_key("ES256", "another")
    assert status_and_error(bank.exchange(code)) == (400, "invalid_grant")
    bank.key = own
    assert bank.exchange(code).status_code == 200


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithms_of_the_profile_are_accepted(bank: FapiBank, algorithm: str) -> None:
    """FAPI 2.0 section 5.4.1"""
    bank.signer.algorithm = bank.algorithm = algorithm
    bank.key = client_key(algorithm, "of proofs")
    assert bank.push().status_code == 201


def test_rs256_is_refused_everywhere(bank: FapiBank) -> None:
    """FAPI 2.0 section 5.4.1"""
    own, bank.key, bank.algorithm = bank.key, client_key("RS256"), "RS256"
    assert status_and_error(bank.push()) == (400, "invalid_dpop_proof")
    bank.key, bank.algorithm = own, "ES256"
    signed = Signer(bank.client, "RS256").request_object(code_challenge=bank.pkce.challenge)
    assert status_and_error(bank.push(request=signed)) == (400, "invalid_request_object")
    bank.signer.algorithm = "RS256"
    assert status_and_error(bank.push()) == (401, "invalid_client")


def test_signed_request_object_may_be_pushed(bank: FapiBank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.2 (RFC 9101 section 6.2)"""
    signed = Signer(bank.client, "PS256").request_object(code_challenge=bank.pkce.challenge)
    step = browser.signed_in(ada).authorize(bank.request_uri(request=signed))
    assert bank.exchange(code_of(step)).status_code == 200


@pytest.mark.parametrize(("seconds", "status"), [(10, 201), (-10, 201), (70, 400)])
def test_clocks_may_be_a_little_off(bank: FapiBank, seconds: int, status: int) -> None:
    """FAPI 2.0 section 5.3.2.1: `iat` and `nbf` 10 seconds in the future are accepted, more than 60 are not."""
    at = int(bank.client.services.clock.now().timestamp()) + seconds
    signed = Signer(bank.client, "ES256").request_object(
        code_challenge=bank.pkce.challenge, iat=at, nbf=at, exp=at + 60
    )
    assert bank.push(request=signed).status_code == status


def test_assertion_names_the_issuer_alone(bank: FapiBank) -> None:
    """FAPI 2.0 section 5.3.2.1: the issuer as one text, no address of an endpoint."""
    parameters = {**bank.client.authorization_parameters(), "code_challenge": bank.pkce.challenge}
    issuer = bank.client.hub_url
    for audience in (
        f"{issuer}/api/oidc/token",
        f"{issuer}/api/oidc/par",
        [issuer],
        [issuer, "x"],
        "https://evil.example",
    ):
        form = {"client_id": bank.client.client_id, **parameters, **bank.signer.assertion(aud=audience)}
        assert status_and_error(bank.post("par", form)) == (401, "invalid_client")
    assert bank.push().status_code == 201


@pytest.mark.both_databases
def test_refresh_token_stays(bank: FapiBank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.1: no rotation."""
    stored = bank.tokens(browser, ada)
    answers = [refresh(bank, stored["refresh_token"]) for _ in range(3)]
    assert [(answer.json or {}).get("refresh_token") for answer in answers] == [stored["refresh_token"]] * 3
    last = (answers[-1].json or {})["access_token"]
    assert bank.userinfo(last).status_code == 200
    bank.post("revoke", bank.form(token=stored["refresh_token"]))
    assert status_and_error(refresh(bank, stored["refresh_token"])) == (400, "invalid_grant")
    assert bank.userinfo(last).status_code == 401


def refresh(bank: FapiBank, token: str) -> TestResponse:
    return bank.post("token", bank.form(grant_type="refresh_token", refresh_token=token))


def test_retained_refresh_token_moves_its_end(
    services: IdentityServices, bank: FapiBank, browser: Browser, ada: Person, world: World
) -> None:
    """FAPI 2.0 section 5.3.2.1: each use extends it as a new one would be."""
    world.change(bank.client, refresh_token_seconds=600)
    world.change_settings(session_idle_minutes=600)
    token = bank.tokens(browser, ada)["refresh_token"]
    with moved(services, seconds=400):
        assert refresh(bank, token).status_code == 200
    with moved(services, seconds=800):
        assert refresh(bank, token).status_code == 200
    with moved(services, seconds=1_401):
        assert status_and_error(refresh(bank, token)) == (400, "invalid_grant")


@pytest.mark.both_databases
def test_retained_refresh_token_serves_many_at_once(bank: FapiBank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.1: a lost response ends no authorization."""
    token = bank.tokens(browser, ada)["refresh_token"]
    with ThreadPoolExecutor(5) as pool:
        statuses = list(pool.map(lambda _: refresh(bank, token).status_code, range(10)))
    assert statuses == [200] * 10


def test_retained_refresh_token_is_of_its_client(world: World, bank: FapiBank, browser: Browser, ada: Person) -> None:
    """RFC 6749 section 6"""
    token = bank.tokens(browser, ada)["refresh_token"]
    other = Prover(world.application("other", dpop_bound_access_tokens=True, refresh_token_rotation=False))
    assert status_and_error(other.refresh(token)) == (400, "invalid_grant")


def test_password_grant_is_refused(world: World, bank: FapiBank, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.1"""
    world.change(bank.client, grant_types=["password"])
    form = bank.form(grant_type="password", username=ada.email, password=ada.password)
    assert status_and_error(bank.post("token", form))[1] == "unauthorized_client"


@pytest.mark.parametrize("place", ["query", "body", "bearer"])
def test_resource_takes_tokens_in_the_header_alone(bank: FapiBank, browser: Browser, ada: Person, place: str) -> None:
    """FAPI 2.0 section 5.3.4"""
    token, path = bank.tokens(browser, ada)["access_token"], "/service/oidc/userinfo"
    headers = {"DPoP": bank.dpop_proof("POST", bank.client.hub_url + path, token=token)}
    if place == "query":
        answer = bank.client.post(path, headers=headers, query_string={"access_token": token})
    elif place == "body":
        answer = bank.client.post(path, {"access_token": token}, headers=headers)
    else:
        answer = bank.client.post(path, headers={**headers, "Authorization": f"Bearer {token}"})
    assert answer.status_code in (400, 401)
    headers = {
        "DPoP": bank.dpop_proof("POST", bank.client.hub_url + path, token=token),
        "Authorization": f"DPoP {token}",
    }
    assert bank.client.post(path, headers=headers).status_code == 200


def test_redirect_goes_to_registered_addresses_only(bank: FapiBank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.1: no open redirect, also for a request that is refused."""
    browser.signed_in(ada)
    evil = {**bank.request_uri(), "redirect_uri": "https://evil.example/"}
    assert (browser.authorize(evil).address or "").startswith(f"{bank.client.redirect_uri}?")
    step = browser.authorize({"client_id": bank.client.client_id, "redirect_uri": "https://evil.example/"})
    assert step.address is None


def test_no_bound_token_comes_through_the_browser(world: World, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 5): no client is known there to which it could be bound."""
    types, grants = ["code", "code token"], ["authorization_code", "implicit"]
    client = world.application("odd", response_types=types, grant_types=grants, dpop_bound_access_tokens=True)
    parameters = client.authorization_parameters(response_type="code token", nonce="n")
    assert parameters_of(browser.signed_in(ada).authorize(parameters))["error"] == "unauthorized_client"


def test_plain_client_may_do_without_rotation(world: World, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.1, for a client that does not follow the rest of it."""
    prover = Prover(world.application("steady", dpop_bound_access_tokens=True, refresh_token_rotation=False))
    stored = prover.bound(browser, ada)
    assert (prover.refresh(stored["refresh_token"]).json or {})["refresh_token"] == stored["refresh_token"]


def test_public_client_always_rotates(world: World, browser: Browser, ada: Person) -> None:
    """RFC 9700 section 4.14.2"""
    client: RelyingParty = world.application(
        "spa", secret=None, dpop_bound_access_tokens=True, refresh_token_rotation=False
    )
    prover, pkce = Prover(client), Pkce()
    code = browser.code(client, ada, code_challenge=pkce.challenge)
    body = prover.redeem(code, code_verifier=pkce.verifier).json or {}
    assert (prover.refresh(body["refresh_token"]).json or {})["refresh_token"] != body["refresh_token"]
