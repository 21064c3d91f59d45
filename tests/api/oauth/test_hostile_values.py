"""Values that JSON and HTTP allow and that no client sends: integers beyond any float, halves of letters, bytes that are no ASCII."""

import base64
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.applications.file import JWT_BEARER
from app.identity.protocols.oauth.sender_constraints import client_certificates
from tests.support.oauth.assertion_issuers import Hr, trusting
from tests.support.oauth.dpop import Prover
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, parameters_of
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import World

pytestmark = pytest.mark.both_databases("first")

MACHINE = {"grant_type": "client_credentials"}
HOSTILE: dict[str, Any] = {
    "huge": 10**400, "hugely negative": -(10**400), "large": 1.7e308, "no number": float("nan"), "endless": float("inf"),
    "text": "now", "truth": True, "list": [1], "object": {"x": 1}, "half a letter": "\ud800", "nothing": "\x00",
}  # fmt: skip
KEYS = public_jwks(client_key("ES256"))


def status_and_error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {}).get("error", answer.text)


@pytest.fixture
def robot(world: World) -> RelyingParty:
    return world.application("robot", grant_types=["client_credentials"])


@pytest.mark.parametrize("claim", ["iat", "jti", "htm", "htu", "nonce"])
def test_hostile_claim_of_a_dpop_proof_is_refused(robot: RelyingParty, claim: str, subtests: pytest.Subtests) -> None:
    prover = Prover(robot)
    for case, value in HOSTILE.items():
        with subtests.test(case):
            proof = prover.dpop_proof("POST", f"{robot.hub_url}/api/oidc/token", **{claim: value})
            answer = prover.post("token", {**MACHINE, **robot.client_credentials()}, proof)
            if claim == "jti" and isinstance(value, str):
                assert answer.status_code == 200, "a jti is any text"
            else:
                error = "use_dpop_nonce" if claim == "nonce" else "invalid_dpop_proof"
                assert status_and_error(answer) == (400, error)


@pytest.mark.parametrize("claim", ["exp", "nbf", "iat"])
def test_hostile_time_of_a_request_object_is_refused(
    world: World, browser: Browser, ada: Person, claim: str, subtests: pytest.Subtests
) -> None:
    signing = world.application("signing", jwks=KEYS)
    browser.signed_in(ada)
    for case, value in HOSTILE.items():
        with subtests.test(case):
            text = Signer(signing).request_object(**{claim: value})
            step = browser.authorize({"client_id": signing.client_id, "request": text})
            if claim == "exp" and value == HOSTILE["large"]:
                assert "code" in parameters_of(step), "it ends, though late"
                continue
            assert parameters_of(step)["error"] == "invalid_request_object"
            pushed = signing.back("par", {**signing.client_credentials(), "request": text})
            assert status_and_error(pushed) == (400, "invalid_request_object")


@pytest.mark.parametrize("claim", ["exp", "nbf", "iat", "aud", "jti"])
def test_hostile_claim_of_a_client_assertion_is_refused(world: World, claim: str, subtests: pytest.Subtests) -> None:
    client = world.application(
        "keyed",
        secret=None,
        token_endpoint_auth_method="private_key_jwt",
        jwks=KEYS,
        grant_types=["client_credentials"],
    )
    for case, value in HOSTILE.items():
        with subtests.test(case):
            answer = client.back("token", MACHINE | Signer(client).assertion(**{claim: value}))
            if claim == "jti" and isinstance(value, str):
                assert answer.status_code == 200, "a jti is any text"
            else:
                assert status_and_error(answer) == (401, "invalid_client")


@pytest.mark.parametrize("claim", ["exp", "nbf", "iat", "aud", "sub", "jti"])
def test_hostile_claim_of_an_assertion_is_refused(world: World, claim: str, subtests: pytest.Subtests) -> None:
    client = trusting(world)
    for case, value in HOSTILE.items():
        with subtests.test(case):
            text = Hr(client).assertion(**{claim: value})
            answer = client.back("token", {"grant_type": JWT_BEARER, **client.client_credentials(), "assertion": text})
            assert status_and_error(answer) == (400, "invalid_grant")


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_hostile_email_of_an_assertion_is_refused(world: World, ada: Person, value: Any) -> None:
    client = trusting(world, subject="email")
    email = f"{value}{ada.email}" if isinstance(value, str) else value
    text = Hr(client).assertion(sub="hr-17", email=email)
    answer = client.back("token", {"grant_type": JWT_BEARER, **client.client_credentials(), "assertion": text})
    assert status_and_error(answer) == (400, "invalid_grant")


HEADERS = {
    "no ASCII": "Basic é",
    "no ASCII behind the secret": f"Basic {base64.b64encode(b'shop:a secret of the application').decode()}é",
    "no base64": "Basic ====",
    "nothing": "Basic",
    "no colon": f"Basic {base64.b64encode(b'shop').decode()}",
    "a control character": f"Basic {base64.b64encode(b'shop%00:x').decode()}",
}


@pytest.mark.parametrize("path", ["/api/oidc/token", "/api/oidc/Shop/token", "/service/oauth/token", "/api/oidc/par"])
@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_malformed_basic_header_is_a_malformed_request(shop: RelyingParty, path: str, header: str) -> None:
    answer = shop.post(path, MACHINE, headers={"Authorization": header})
    assert status_and_error(answer) == (400, "invalid_request")


def test_certificate_that_is_no_base64_is_skipped() -> None:
    assert client_certificates.thumbprints([["\u00e9"], ["===="], [7], "x", [], None]) == set()
