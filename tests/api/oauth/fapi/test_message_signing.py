"""Applications of FAPI 2.0 Message Signing, in its four profiles: a key or a certificate authenticates them, and binds their tokens.

Tests name the sections of its final version.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey
from werkzeug.test import TestResponse

from app.contract.oauth.oauth_token_operations import INTROSPECTION_JWT
from app.contract.steps import RedirectStep, RefusedStep
from app.identity.platform.services import IdentityServices
from app.kit import randomness
from tests.support.oauth.client_certificates import Certificate, certificate
from tests.support.oauth.dpop import Prover
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, claims_in, moved, parameters_of
from tests.support.oauth.signed_requests import Signer, client_key, part, public_jwks
from tests.support.oauth.world import World
from tests.support.visitors.answered_step import AnsweredStep

KEY, CERTIFICATE, DPOP, MTLS = "private_key_jwt", "tls_client_auth", "dpop", "mtls"
PROFILES: Final = tuple(itertools.product((KEY, CERTIFICATE), (DPOP, MTLS)))
HOUR: Final = 3_600


@dataclass
class Bank:
    """A client of one profile: it signs its requests, pushes them, and reads signed responses."""

    client: RelyingParty
    signer: Signer
    prover: Prover
    tls: Certificate
    authentication: str
    binding: str
    pkce: Pkce

    @property
    def now(self) -> int:
        return int(self.client.services.clock.now().timestamp())

    def signed(self, **changed: Any) -> str:
        """Return a signed request; a member that is None is left out."""
        parameters = {"response_mode": "jwt", "code_challenge": self.pkce.challenge, "exp": self.now + 300}
        return self.signer.request_object(**{**parameters, **changed})

    def form(self, **members: str | None) -> dict[str, str | None]:
        own: Mapping[str, str] = self.signer.assertion() if self.authentication == KEY else {}
        return {"client_id": self.client.client_id, **own, **members}

    def environ(self) -> dict[str, Any]:
        has_certificate = self.authentication == CERTIFICATE or self.binding == MTLS
        return self.tls.environ() if has_certificate else {"REMOTE_ADDR": "198.51.100.9"}

    def dpop_headers(self, method: str, path: str, token: str | None = None) -> dict[str, str]:
        if self.binding == MTLS:
            return {}
        return {"DPoP": self.prover.dpop_proof(method, self.client.hub_url + path, token=token)}

    def post(self, what: str, form: Mapping[str, str | None], **headers: str) -> TestResponse:
        path = f"/api/oidc/{self.client.app}/{what}" if self.client.app else f"/api/oidc/{what}"
        sent = {**self.dpop_headers("POST", path), **headers}
        return self.client.back(what, form, headers=sent, environ_overrides=self.environ())

    def push(self, text: str | None = None, **beside: str | None) -> TestResponse:
        return self.post("par", self.form(request=text if text is not None else self.signed(), **beside))

    def pushed(self, **changed: Any) -> dict[str, str | None]:
        answer = self.push(self.signed(**changed))
        assert answer.status_code == 201, answer.text
        return {"client_id": self.client.client_id, "request_uri": (answer.json or {})["request_uri"]}

    def exchange(self, code: str) -> TestResponse:
        values = {"code": code, "redirect_uri": self.client.redirect_uri, "code_verifier": self.pkce.verifier}
        return self.post("token", self.form(grant_type="authorization_code", **values))

    def userinfo(self, token: str) -> TestResponse:
        path = "/service/oidc/userinfo"
        scheme = "DPoP" if self.binding == DPOP else "Bearer"
        headers = {"Authorization": f"{scheme} {token}", **self.dpop_headers("GET", path, token)}
        return self.client.get(path, headers=headers, environ_overrides=self.environ())

    def read(self, step: AnsweredStep) -> dict[str, Any]:
        """Return the verified claims of a response that is one JWT and nothing else (JARM section 2.4)."""
        stored = parameters_of(step)
        assert set(stored) == {"response"}
        return self.verified(stored["response"])

    def verified(self, text: str) -> dict[str, Any]:
        keys = KeySet.import_key_set(self.client.get("/service/oidc/jwks").get_json())
        return dict(jwt.decode(text, keys, algorithms=["PS256"]).claims)


@pytest.fixture(autouse=True)
def proxied(services: IdentityServices) -> Iterator[None]:
    """Let the operator have named the headers of a proxy that asks for certificates."""
    former = services.settings
    services.settings = replace(
        former,
        client_certificate_header="X-SSL-Client-Cert",
        client_verification_header="X-SSL-Client-Verify",
        trusted_proxies=("10.0.0.1",),
    )
    yield
    services.settings = former


def settings_of(authentication: str, binding: str) -> dict[str, Any]:
    """Return the settings of an application of a profile."""
    subject = {"tls_client_auth_subject_dn": "CN=bank"} if authentication == CERTIFICATE else {}
    return {
        "security_profile": "fapi2", "require_signed_request_object": True, "response_modes": ["jwt"],
        "token_endpoint_auth_method": authentication, **subject,
        "dpop_bound_access_tokens": binding == DPOP, "tls_client_certificate_bound_access_tokens": binding == MTLS,
        "jwks": public_jwks(*(client_key(item) for item in ("PS256", "ES256", "EdDSA", "RS256"))),
    }  # fmt: skip


def new_bank(world: World, authentication: str, binding: str, name: str = "bank", **more: Any) -> Bank:
    client = world.application(name, secret=None, **settings_of(authentication, binding), **more)
    return Bank(client, Signer(client), Prover(client), certificate("CN=bank"), authentication, binding, Pkce())


def at_own_issuer(bank: Bank) -> Bank:
    own = bank.client.at_own_issuer()
    return replace(bank, client=own, signer=Signer(own), prover=Prover(own))


@pytest.fixture(params=PROFILES, ids=["-".join(profile) for profile in PROFILES])
def bank(request: pytest.FixtureRequest, world: World) -> Bank:
    return new_bank(world, *request.param)


@pytest.fixture
def any_bank(world: World) -> Bank:
    return new_bank(world, KEY, DPOP)


def replied(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {}).get("error", "")


@pytest.mark.parametrize("is_own", [False, True], ids=["tenant", "own issuer"])
def test_every_message_of_a_sign_in_is_signed(bank: Bank, browser: Browser, ada: Person, is_own: bool) -> None:
    """FAPI 2.0 Message Signing sections 5.3.1 and 5.4.1"""
    bank = at_own_issuer(bank) if is_own else bank
    step = browser.signed_in(ada).authorize(bank.pushed(nonce="n", state="s"), app=bank.client.app)
    response = bank.read(step)
    assert set(response) == {"iss", "aud", "exp", "code", "state"}
    assert (response["iss"], response["aud"], response["state"]) == (bank.client.issuer, bank.client.client_id, "s")
    assert bank.now < response["exp"] <= bank.now + 600
    body = bank.exchange(response["code"]).get_json()
    assert body["token_type"] == ("DPoP" if bank.binding == DPOP else "Bearer")
    assert bank.verified(body["id_token"])["nonce"] == "n"
    assert (bank.userinfo(body["access_token"]).json or {})["sub"] == ada.uid


def test_bound_token_needs_its_key_or_certificate(bank: Bank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.1"""
    code = bank.read(browser.signed_in(ada).authorize(bank.pushed()))["code"]
    body = bank.exchange(code).get_json()
    thief = replace(bank, prover=Prover(bank.client), tls=certificate("CN=bank"))
    assert bank.userinfo(body["access_token"]).status_code == 200
    assert thief.userinfo(body["access_token"]).status_code == 401


WRONG_OBJECTS: dict[str, dict[str, Any]] = {
    "no exp": {"exp": None},
    "no nbf": {"nbf": None},
    "no aud": {"aud": None},
    "neither exp nor nbf": {"exp": None, "nbf": None},
    "iat in place of nbf": {"nbf": None, "iat": -10},
    "exp 61 minutes after nbf": {"exp": HOUR + 60},
    "exp a second more than an hour after nbf": {"exp": HOUR + 1},
    "nbf 61 minutes ago": {"nbf": -HOUR - 60, "exp": 30},
    "nbf 70 minutes ago, exp within an hour after it": {"nbf": -HOUR - 600, "exp": -600},
    "both: a year": {"nbf": -31_536_000, "exp": 31_536_000},
    "expired": {"nbf": -900, "exp": -300},
    "nbf in two minutes": {"nbf": 120, "exp": 300},
    "exp before nbf": {"nbf": 30, "exp": 20},
    "exp at nbf": {"nbf": 0, "exp": 0},
}
"""Claims of objects that are of no hour; numbers are seconds from now (FAPI 2.0 Message Signing section 5.3.1)."""
NO_TIMES: list[dict[str, Any]] = [
    {"exp": "soon"}, {"exp": True}, {"exp": 1e400}, {"exp": 10**400}, {"nbf": "now"}, {"nbf": [0]}, {"nbf": False},
    {"nbf": -1e400}, {"nbf": {}}, {"nbf": -(10**400)},
    {"nbf": float("nan")}, {"exp": float("nan")},
    {"aud": "https://another.example"}, {"aud": []}, {"aud": [7]}, {"aud": ""}, {"aud": {"x": 1}},
]  # fmt: skip


def from_now(bank: Bank, changed: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if value is None else bank.now + value for name, value in changed.items()}


def test_object_of_another_hour_is_refused(bank: Bank, subtests: pytest.Subtests) -> None:
    """FAPI 2.0 Message Signing section 5.3.1"""
    for name, changed in WRONG_OBJECTS.items():
        with subtests.test(name):
            assert replied(bank.push(bank.signed(**from_now(bank, changed)))) == (400, "invalid_request_object")
    for claims in NO_TIMES:
        with subtests.test(str(claims)):
            assert replied(bank.push(bank.signed(**claims))) == (400, "invalid_request_object")
    assert bank.push().status_code == 201


GOOD_OBJECTS: dict[str, dict[str, Any]] = {
    "an hour": {"nbf": 0, "exp": HOUR},
    "nbf 59 minutes ago": {"nbf": -HOUR + 60, "exp": 30},
    "nbf in 8 seconds": {"nbf": 8, "iat": 8, "exp": 308},
    "no iat": {"iat": None},
}


def test_object_of_this_hour_is_accepted(bank: Bank, subtests: pytest.Subtests) -> None:
    """FAPI 2.0 Message Signing section 5.3.1; section 5.3.2.1 of the Security Profile: clocks may be 10 seconds off."""
    for name, changed in GOOD_OBJECTS.items():
        with subtests.test(name):
            assert bank.push(bank.signed(**from_now(bank, changed))).status_code == 201
    several = [bank.client.issuer, "https://another.example"]
    assert bank.push(bank.signed(aud=several)).status_code == 201, "an array that contains the issuer"
    for kind in ("oauth-authz-req+jwt", "application/oauth-authz-req+jwt", "JWT", None):
        bank.signer.header = {"typ": kind}
        assert bank.push().status_code == 201


def test_unsigned_request_is_refused(bank: Bank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 Message Signing section 5.3.1"""
    plain = {**bank.client.authorization_parameters(), "code_challenge": bank.pkce.challenge, "response_mode": "jwt"}
    assert replied(bank.post("par", bank.form(**plain))) == (400, "invalid_request")
    claims = {**plain, "aud": bank.client.issuer, "nbf": bank.now, "exp": bank.now + 60}
    unsigned = f"{part({'alg': 'none', 'typ': 'oauth-authz-req+jwt'})}.{part(claims)}."
    assert replied(bank.push(unsigned)) == (400, "invalid_request_object")
    assert replied(bank.push("", **plain)) == (400, "invalid_request")


def test_request_outside_of_par_is_refused_in_a_signed_response(bank: Bank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.2"""
    browser.signed_in(ada)
    plain = {**bank.client.authorization_parameters(), "code_challenge": bank.pkce.challenge}
    signed = {"client_id": bank.client.client_id, "request": bank.signed()}
    for item in (plain, {**plain, "response_mode": "jwt"}, signed, {**plain, **signed}):
        assert bank.read(browser.authorize(item))["error"] == "invalid_request"
    assert bank.read(browser.authorize({**plain, "response_mode": "query"}))["error"] == "invalid_request"


def test_object_at_an_address_is_refused_when_pushed(bank: Bank) -> None:
    """RFC 9126 section 2.1"""
    known = {"request_uri": (bank.push().json or {})["request_uri"]}
    assert replied(bank.post("par", bank.form(**known))) == (400, "invalid_request")
    assert replied(bank.push(bank.signed(), **known)) == (400, "invalid_request")
    assert replied(bank.push(bank.signed(**known)))[0] == 400


def test_signature_of_another_kind_is_refused(bank: Bank) -> None:
    """FAPI 2.0 section 5.4.1"""
    for algorithm in ("PS256", "ES256", "EdDSA", "Ed25519"):
        bank.signer.algorithm = algorithm
        assert bank.push().status_code == 201
    registered, wrong = bank.signer, Signer(bank.client, "RS256")
    shared = OctKey.import_key("a secret of the application")
    for signer in (wrong, Signer(bank.client, "ES256", client_key("ES256", "x")), Signer(bank.client, "HS256", shared)):
        text = replace(bank, signer=signer).signed()
        assert replied(replace(bank, signer=registered).push(text)) == (400, "invalid_request_object")
    head, payload, signature = bank.signed().split(".")
    for forged in (f"{head}.{payload}.{signature[:-4]}AAAA", f"{head}.{payload}."):
        assert replied(bank.push(forged)) == (400, "invalid_request_object")


def test_key_of_another_client_is_refused(world: World, bank: Bank) -> None:
    """RFC 9101 section 6.2"""
    key = client_key("ES256", "second")
    world.change(bank.client, jwks=public_jwks(client_key("PS256"), client_key("ES256"), client_key("EdDSA")))
    other = new_bank(world, bank.authentication, bank.binding, "second")
    world.change(other.client, jwks=public_jwks(key))
    text = Signer(bank.client, "ES256", key).request_object(code_challenge=bank.pkce.challenge, response_mode="jwt")
    assert replied(bank.push(text)) == (400, "invalid_request_object")
    other.signer.key = key
    assert replied(other.push(bank.signed())) == (400, "invalid_request_object"), "an object of the first client"


@pytest.mark.parametrize("mode", [None, "query", "fragment", "form_post", "form_post.jwt", "fragment.jwt", "unknown"])
def test_response_mode_that_is_not_jwt_is_refused(bank: Bank, mode: str | None) -> None:
    """FAPI 2.0 Message Signing sections 5.3.3 and 5.4.1; a mode beside the object does not count (RFC 9101 section 6.3)."""
    assert replied(bank.push(bank.signed(response_mode=mode))) == (400, "invalid_request")
    assert replied(bank.push(bank.signed(response_mode=mode), response_mode="jwt")) == (400, "invalid_request")
    assert bank.push(bank.signed(response_mode="query.jwt"), response_mode="query").status_code == 201


@pytest.mark.parametrize("address", [None, "https://evil.example/"])
def test_signed_request_without_redirect_uri_is_refused(bank: Bank, address: str | None) -> None:
    """FAPI 2.0 section 5.3.2.2; the registered one beside the object does not count (RFC 9101 section 6.3)."""
    text = bank.signed(redirect_uri=address)
    assert replied(bank.push(text)) == (400, "invalid_request")
    assert replied(bank.push(text, redirect_uri=bank.client.redirect_uri)) == (400, "invalid_request")


def test_request_uri_counts_once(bank: Bank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 section 5.3.2.2"""
    taken = bank.pushed()
    assert "code" in bank.read(browser.signed_in(ada).authorize(taken))
    again = browser.authorize(taken)
    assert (again.kind, again.error, again.address) == (RefusedStep, "invalid_request_uri", None)
    beside = {**taken, "redirect_uri": bank.client.redirect_uri, "state": "s"}
    assert bank.read(browser.authorize(beside))["error"] == "invalid_request_uri"


@pytest.mark.both_databases
def test_one_of_many_browsers_uses_a_signed_request(world: World, any_bank: Bank, ada: Person) -> None:
    taken = any_bank.pushed()
    browsers = [world.browser().signed_in(ada) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        steps = list(pool.map(lambda item: item.authorize(taken), browsers))
    read = [any_bank.read(step) if step.kind is RedirectStep else {} for step in steps]
    assert [item.get("error", step.error) for item, step in zip(read, steps, strict=True) if "code" not in item] == [
        "invalid_request_uri"
    ] * 3


def test_replayed_assertion_or_dpop_jwt_is_refused_at_par(bank: Bank) -> None:
    """RFC 7523 section 3, RFC 9449 section 11.1"""
    form = bank.form(request=bank.signed())
    dpop = bank.dpop_headers("POST", "/api/oidc/par")
    assert bank.post("par", form, **dpop).status_code == 201
    if bank.authentication == KEY:
        assert replied(bank.post("par", form)) == (401, "invalid_client")
    if bank.binding == DPOP:
        assert replied(bank.post("par", bank.form(request=bank.signed()), **dpop)) == (400, "invalid_dpop_proof")


def test_client_that_shows_no_key_pushes_nothing(bank: Bank) -> None:
    """FAPI 2.0 section 5.3.2.1"""
    form = {"client_id": bank.client.client_id, "request": bank.signed()}
    bare = bank.client.back("par", form, headers=bank.dpop_headers("POST", "/api/oidc/par"))
    assert replied(bare) == (401, "invalid_client")


def test_parameters_beside_the_object_do_not_count(bank: Bank, browser: Browser, ada: Person) -> None:
    """RFC 9101 section 6.3"""
    beside = {"state": "beside", "nonce": "beside", "scope": "openid", "redirect_uri": "https://evil.example/"}
    answer = bank.push(bank.signed(state=None, nonce="signed"), **beside)
    uri = {"client_id": bank.client.client_id, "request_uri": (answer.json or {})["request_uri"]}
    response = bank.read(browser.signed_in(ada).authorize({**uri, "state": "browser"}))
    assert "state" not in response
    body = bank.exchange(response["code"]).get_json()
    assert (claims_in(body["id_token"])["nonce"], body["scope"]) == ("signed", "openid profile email")


def test_refusal_of_the_person_is_signed(world: World, bank: Bank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 Message Signing section 5.4.1"""
    step = browser.signed_in(ada).authorize(bank.pushed(prompt="consent"))
    assert bank.read(browser.consent(step.interaction_id or "", allow=False))["error"] == "access_denied"
    assert bank.read(world.browser().authorize(bank.pushed(prompt="none")))["error"] == "login_required"


def test_introspection_response_is_signed_on_request(world: World, bank: Bank, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 Message Signing section 5.5.1"""
    code = bank.read(browser.signed_in(ada).authorize(bank.pushed()))["code"]
    token = bank.exchange(code).get_json()["access_token"]
    answer = bank.post("introspect", bank.form(token=token), Accept=INTROSPECTION_JWT)
    claims = bank.verified(answer.text)
    assert (claims["iss"], claims["aud"]) == (bank.client.issuer, bank.client.client_id)
    assert (claims["token_introspection"]["active"], claims["token_introspection"]["sub"]) == (True, ada.uid)
    assert set(claims["token_introspection"]["cnf"]) == ({"jkt"} if bank.binding == DPOP else {"x5t#S256"})


def test_pushed_object_is_not_checked_again_at_the_page(
    services: IdentityServices, any_bank: Bank, browser: Browser, ada: Person
) -> None:
    """RFC 9126 section 4: the request was accepted while its object was valid."""
    taken = any_bank.pushed(nbf=any_bank.now - 30, exp=any_bank.now + 5)
    with moved(services, seconds=80):
        assert "code" in any_bank.read(browser.signed_in(ada).authorize(taken))


def test_profile_without_signatures_of_responses_is_served(world: World, browser: Browser, ada: Person) -> None:
    """FAPI 2.0 Message Signing section 5.3.3: each kind of signature is demanded on its own."""
    settings = {**settings_of(KEY, DPOP), "response_modes": []}
    client = world.application("plain-responses", secret=None, **settings)
    bank = Bank(client, Signer(client), Prover(client), certificate("CN=bank"), KEY, DPOP, Pkce())
    step = browser.signed_in(ada).authorize(bank.pushed(response_mode=None))
    assert {"code", "iss"} <= set(parameters_of(step))
    assert replied(bank.push(bank.signed(response_mode=None, exp=None))) == (400, "invalid_request_object")


def test_client_outside_of_the_profile_keeps_its_objects(world: World, browser: Browser, ada: Person) -> None:
    """RFC 9101 section 4 demands neither claim."""
    client = world.application("plain", jwks=public_jwks(client_key("ES256")))
    text = Signer(client).request_object(exp=None, nbf=None, aud=None, state=randomness.token())
    step = browser.signed_in(ada).authorize({"client_id": client.client_id, "request": text})
    assert "code" in parameters_of(step)
