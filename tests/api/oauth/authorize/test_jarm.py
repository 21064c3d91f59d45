"""JWT-secured authorization responses (JARM sections 2.1 to 2.4): the whole response, or error, as one signed JWT."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from app.contract.steps import FormPostStep
from app.identity.platform.services import IdentityServices
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, parameters_of
from tests.support.oauth.world import World
from tests.support.visitors.answered_step import AnsweredStep

CARRIERS = {"jwt": "query", "query.jwt": "query", "fragment.jwt": "fragment", "form_post.jwt": "form"}


def carrier_of(step: AnsweredStep) -> str:
    if step.kind is FormPostStep:
        return "form"
    return "fragment" if urlsplit(step.address or "").fragment else "query"


def response_of(client: RelyingParty, step: AnsweredStep, algorithm: str = "RS256") -> dict[str, object]:
    """Return the verified claims of a response that is one JWT and nothing else."""
    stored = parameters_of(step)
    assert set(stored) == {"response"}
    keys = KeySet.import_key_set(client.get("/service/oidc/jwks").get_json())
    token = jwt.decode(stored["response"], keys, algorithms=[algorithm])
    assert token.header["alg"] == algorithm
    return dict(token.claims)


@pytest.mark.parametrize("mode", CARRIERS)
def test_code_is_in_signed_response(
    services: IdentityServices, shop: RelyingParty, browser: Browser, ada: Person, mode: str
) -> None:
    step = browser.signed_in(ada).authorize(shop.authorization_parameters(response_mode=mode))
    assert carrier_of(step) == CARRIERS[mode]
    claims = response_of(shop, step)
    now = services.clock.now().timestamp()
    assert (claims["iss"], claims["aud"], claims["state"]) == (shop.issuer, shop.client_id, "a state")
    assert now < float(str(claims["exp"])) <= now + 600
    assert set(claims) == {"iss", "aud", "exp", "state", "code"}
    assert shop.redeem(str(claims["code"])).status_code == 200


@pytest.mark.parametrize("mode", CARRIERS)
def test_errors_are_signed_too(shop: RelyingParty, browser: Browser, ada: Person, mode: str) -> None:
    refused = browser.authorize(shop.authorization_parameters(response_mode=mode, prompt="none"))
    assert carrier_of(refused) == CARRIERS[mode]
    assert response_of(shop, refused)["error"] == "login_required"
    malformed = browser.authorize(shop.authorization_parameters(response_mode=mode, claims="{"))
    claims = response_of(shop, malformed)
    assert (claims["error"], claims["aud"], claims["iss"]) == ("invalid_request", shop.client_id, shop.issuer)
    step = browser.signed_in(ada).authorize(shop.authorization_parameters(response_mode=mode, prompt="consent"))
    denied = browser.consent(step.interaction_id or "", allow=False)
    assert response_of(shop, denied)["error"] == "access_denied"


def test_jwt_of_hybrid_flow_is_in_fragment(world: World, browser: Browser, ada: Person) -> None:
    client = world.application(
        "hybrid", grant_types=["authorization_code", "implicit"], response_types=["code", "code id_token"]
    )
    parameters = client.authorization_parameters(response_type="code id_token", nonce="n", response_mode="jwt")
    step = browser.signed_in(ada).authorize(parameters)
    assert carrier_of(step) == "fragment"
    claims = response_of(client, step)
    assert claims_in(str(claims["id_token"]))["sub"] == ada.uid
    refused = browser.authorize({**parameters, "response_mode": "query.jwt"})
    assert carrier_of(refused) == "fragment"
    assert response_of(client, refused)["error"] == "invalid_request"


def test_response_is_signed_for_own_issuer(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    own = shop.at_own_issuer()
    step = browser.signed_in(ada).authorize(own.authorization_parameters(response_mode="jwt"), app=own.app)
    assert response_of(own, step)["iss"] == own.issuer


def test_signed_response_is_no_other_kind_of_token(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """It is a JWT of this tenant for this client; but it names no account, and opens nothing."""
    step = browser.signed_in(ada).authorize(shop.authorization_parameters(response_mode="jwt"))
    text = parameters_of(step)["response"]
    assert shop.userinfo(text).status_code == 401
    assert shop.introspect(text) == {"active": False}
    hinted = parameters_of(browser.authorize(shop.authorization_parameters(id_token_hint=text)))
    assert hinted["error"] == "invalid_request"


def test_fresh_tenant_signs_its_first_error(shop: RelyingParty, browser: Browser) -> None:
    step = browser.authorize(shop.authorization_parameters(response_mode="jwt", display="hologram"))
    assert response_of(shop, step)["error"] == "invalid_request"


def test_pushed_request_with_signed_response_is_served(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    pushed = shop.push(response_mode="jwt").json or {}
    step = browser.signed_in(ada).authorize({"client_id": shop.client_id, "request_uri": pushed["request_uri"]})
    assert "code" in response_of(shop, step)


def test_metadata_lists_signed_modes(shop: RelyingParty) -> None:
    metadata = shop.get("/.well-known/openid-configuration").json or {}
    assert set(CARRIERS) <= set(metadata["response_modes_supported"])
    assert metadata["authorization_signing_alg_values_supported"] == ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"]


@pytest.mark.parametrize("algorithm", ["PS256", "ES256", "EdDSA", "Ed25519"])
def test_registered_algorithm_signs_response(world: World, browser: Browser, ada: Person, algorithm: str) -> None:
    client = world.application("alg", authorization_signed_response_alg=algorithm)
    step = browser.signed_in(ada).authorize(client.authorization_parameters(response_mode="jwt"))
    assert "code" in response_of(client, step, algorithm)
    refused = browser.authorize(client.authorization_parameters(response_mode="jwt", display="hologram"))
    assert response_of(client, refused, algorithm)["error"] == "invalid_request"


REGISTERED: list[tuple[list[str], str | None, str]] = [
    (["jwt"], "jwt", "query.jwt"),
    (["jwt"], "query.jwt", "query.jwt"),
    (["jwt"], None, "refused"),
    (["jwt"], "query", "refused"),
    (["jwt"], "form_post.jwt", "refused"),
    (["query.jwt", "form_post.jwt"], "jwt", "query.jwt"),
    (["query.jwt", "form_post.jwt"], "form_post.jwt", "form_post.jwt"),
    (["form_post"], "form_post", "form_post"),
    (["form_post"], None, "refused"),
    (["form_post"], "jwt", "refused"),
    (["query"], None, "query"),
    (["query"], "fragment", "refused"),
    ([], "fragment.jwt", "fragment.jwt"),
]
"""By what a client registered and asks for: the mode of its response (FAPI 2.0 Message Signing section 5.3.3)."""


@pytest.mark.parametrize("is_own", [False, True], ids=["tenant", "own issuer"])
def test_client_gets_only_its_registered_modes(
    world: World, browser: Browser, ada: Person, is_own: bool, subtests: pytest.Subtests
) -> None:
    browser.signed_in(ada)
    for number, (modes, requested, expected) in enumerate(REGISTERED):
        with subtests.test(f"{modes} {requested}"):
            client = world.application(f"modes-{number}", response_modes=modes)
            client = client.at_own_issuer() if is_own else client
            step = browser.authorize(client.authorization_parameters(response_mode=requested), app=client.app)
            is_signed = expected.endswith("jwt") or (expected == "refused" and modes and "jwt" in modes[0])
            stored = response_of(client, step) if is_signed else parameters_of(step)
            assert stored.get("error") == ("invalid_request" if expected == "refused" else None)
            if expected != "refused":
                assert carrier_of(step) == expected.removesuffix(".jwt").replace("form_post", "form")
            pushed = client.push(response_mode=requested)
            assert pushed.status_code == (400 if expected == "refused" else 201)


def test_jwt_of_registered_modes_depends_on_the_type(world: World, browser: Browser, ada: Person) -> None:
    """JARM section 2.3.4: for a hybrid type it is the fragment."""
    grants, types = ["authorization_code", "implicit"], ["code", "code id_token"]
    client = world.application("both", grant_types=grants, response_types=types, response_modes=["jwt"])
    browser.signed_in(ada)
    for response_type, carrier in (("code", "query"), ("code id_token", "fragment")):
        parameters = client.authorization_parameters(response_type=response_type, nonce="n")
        step = browser.authorize({**parameters, "response_mode": "jwt"})
        assert (carrier_of(step), "code" in response_of(client, step)) == (carrier, True)
        refused = browser.authorize(parameters)
        assert (carrier_of(refused), response_of(client, refused)["error"]) == (carrier, "invalid_request")


@pytest.mark.parametrize(
    "changed",
    [
        {"state": "s" * 9_000},
        {"response_type": None},
        {"response_type": "token"},
        {"scope": "profile"},
        {"display": "hologram"},
        {"request": "x"},
        {"prompt": "none"},
    ],
    ids=str,
)
def test_client_of_signed_responses_gets_each_error_signed(
    world: World, browser: Browser, changed: dict[str, str | None]
) -> None:
    client = world.application("signed-alone", response_modes=["jwt"])
    for mode in ({"response_mode": "jwt"}, {}):
        step = browser.authorize(client.authorization_parameters(**{**changed, **mode}))
        assert "error" in response_of(client, step)
