"""Introspection responses as signed JWTs.

(RFC 9701 section 4) (RFC 9701 section 5) (RFC 9701 section 6) (RFC 9701 section 8.1)
"""

from __future__ import annotations

from typing import Any

import pytest
from joserfc import jws, jwt
from joserfc.jwk import KeySet
from werkzeug.test import TestResponse

from app.identity.platform.services import IdentityServices
from app.identity.protocols.oauth.tokens import issued_jwts
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, claims_in, parameters_of
from tests.support.oauth.world import World
from tests.support.tenants.callers import call_of

JWT = "application/token-introspection+jwt"
AUDIENCE = "http://api.localhost:8000/identity/v2/manage"


def access_token(client: RelyingParty, browser: Browser, ada: Person) -> str:
    return str((client.redeem(browser.code(client, ada)).json or {})["access_token"])


def introspected(client: RelyingParty, token: str, accept: str = JWT, **form: str | None) -> TestResponse:
    body = {"token": token, **client.client_credentials(), **form}
    return client.back("introspect", body, headers={"Accept": accept})


def decoded(client: RelyingParty, answer: TestResponse, algorithm: str = "RS256") -> dict[str, Any]:
    """Verify as RFC 9701 section 8.1 asks of resource servers: the type, the algorithm, and who the response is for."""
    assert (answer.status_code, answer.mimetype) == (200, JWT), answer.text
    token = jwt.decode(
        answer.text, KeySet.import_key_set(client.get("/service/oidc/jwks").get_json()), algorithms=[algorithm]
    )
    assert token.header["typ"] == "token-introspection+jwt"
    assert token.claims["aud"] == client.client_id
    return dict(token.claims)


def test_response_is_a_jwt_with_the_members_of_the_json(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    """RFC 9701 section 5: nothing of the token at the top."""
    token = access_token(shop, browser, ada)
    claims = decoded(shop, introspected(shop, token))
    assert set(claims) == {"iss", "aud", "iat", "token_introspection"}
    assert claims["iss"] == shop.issuer
    assert abs(claims["iat"] - world.services.clock.now().timestamp()) < 60
    assert claims["token_introspection"] == shop.introspect(token)
    assert introspected(shop, token).headers["Cache-Control"] == "no-store"


def test_inactive_token_has_no_other_member(world: World, shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """RFC 9701 section 5; another client's token is inactive too."""
    for token in ("nonsense", access_token(world.application("other"), browser, ada)):
        assert decoded(shop, introspected(shop, token))["token_introspection"] == {"active": False}


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"])
def test_response_is_signed_with_registered_algorithm(
    world: World, browser: Browser, ada: Person, algorithm: str
) -> None:
    """RFC 9701 section 6."""
    client = world.application("api", introspection_signed_response_alg=algorithm)
    answer = introspected(client, access_token(client, browser, ada))
    assert jws.extract_compact(answer.data).headers()["alg"] == algorithm
    assert decoded(client, answer, algorithm)["token_introspection"]["active"] is True


def test_resource_server_gets_evidence_for_itself(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    orders = world.application("orders", resource_server=True, introspection_signed_response_alg="ES256")
    claims = decoded(orders, introspected(orders, access_token(shop, browser, ada)), "ES256")
    assert (claims["aud"], claims["token_introspection"]["client_id"]) == (orders.client_id, shop.client_id)


def test_application_issuer_signs_its_responses(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    own = shop.at_own_issuer()
    token = str((own.redeem(browser.code(own, ada)).json or {})["access_token"])
    assert decoded(own, introspected(own, token))["iss"] == own.issuer


ACCEPT_HEADERS = [
    (JWT, True),
    (JWT.upper(), True),
    (f"application/json, {JWT}", True),
    (f"application/json;q=0.5, {JWT}", True),
    (f"text/html, {JWT};q=0.2", True),
    (f"application/json, {JWT};q=0.5", False),
    (f"{JWT};q=0", False),
    (f"{JWT};q=many", False),
    ("application/json", False),
    ("application/jwt", False),
    ("*/*", False),
    ("", False),
    (",;,q=;" * 500, False),
]


def test_accept_header_decides(shop: RelyingParty, browser: Browser, ada: Person, subtests: pytest.Subtests) -> None:
    """RFC 9701 section 4."""
    token = access_token(shop, browser, ada)
    for accept, is_jwt in ACCEPT_HEADERS:
        with subtests.test(accept[:60]):
            assert introspected(shop, token, accept).mimetype == (JWT if is_jwt else "application/json")


def test_only_authenticated_callers_get_a_response(
    shop: RelyingParty, phone: RelyingParty, browser: Browser, ada: Person
) -> None:
    """RFC 9701 section 5: the caller is the audience; any program could pose as a public client."""
    token = access_token(shop, browser, ada)
    assert introspected(shop, token, client_id=None, client_secret=None).status_code == 401
    wrong = introspected(shop, token, client_secret="wrong")
    assert (wrong.status_code, wrong.mimetype, (wrong.json or {})["error"]) == (
        401,
        "application/json",
        "invalid_client",
    )
    pkce = Pkce()
    code = browser.code(phone, ada, code_challenge=pkce.challenge, code_challenge_method="S256")
    own = (phone.redeem(code, code_verifier=pkce.verifier).json or {})["access_token"]
    assert introspected(phone, own).status_code == 401


def test_response_is_no_other_token(
    services: IdentityServices, world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    """RFC 9701 section 8.1, RFC 8725 section 3.11."""
    text = introspected(shop, access_token(shop, browser, ada)).text
    assert shop.userinfo(text).status_code == 401
    assert shop.introspect(text) == {"active": False}
    step = browser.authorize(shop.authorization_parameters(id_token_hint=text, prompt="none"))
    assert parameters_of(step)["error"] == "invalid_request"
    with call_of(services, world.name) as call:
        for kinds in (("JWT",), ("at+jwt",)):
            with pytest.raises(issued_jwts.InvalidJwt):
                issued_jwts.read(call, text, kinds=kinds)


def test_machine_token_is_introspected_as_jwt(world: World) -> None:
    robot = world.application(
        "robot", application_type="m2m", grant_types=["client_credentials"], redirect_uris=[],
        audience_scopes={AUDIENCE: ["profile:read"]},
    )  # fmt: skip
    form = {"grant_type": "client_credentials", "audience": AUDIENCE, **robot.client_credentials()}
    token = (robot.post("/service/oauth/token", form).json or {})["access_token"]
    body = {"token": token, **robot.client_credentials()}
    answer = robot.post("/service/oauth/introspect", body, headers={"Accept": JWT})
    stored = decoded(robot, answer)["token_introspection"]
    assert (stored["active"], stored["aud"]) == (True, claims_in(token)["aud"])


def test_jwt_costs_no_statement_more(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    token = access_token(shop, browser, ada)
    spent = [browser.spent(introspected(shop, token, accept))["sql"] for accept in (JWT, "application/json")]
    assert spent[0] == spent[1]
