"""Implicit and hybrid flows: off unless registered, tokens in the fragment alone, bound to code and nonce (OpenID Connect Core
sections 3.2 and 3.3, OAuth 2.0 Multiple Response Types section 5)."""

import hashlib
from base64 import urlsafe_b64encode
from urllib.parse import urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from app.contract.steps import ConsentStep, FormPostStep, LoginStep, RedirectStep
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, claims_in, parameters_of
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.answered_step import AnsweredStep

FRONT_CHANNEL_TYPES = ["id_token", "token id_token", "code id_token", "code token", "code id_token token"]
GRANTS = ["authorization_code", "refresh_token", "implicit"]
MEMBERS = {
    "id_token": {"id_token"},
    "token": {"access_token", "token", "token_type", "expires_in", "scope"},
    "code": {"code"},
}


def half_hash(text: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).rstrip(b"=").decode()


def ask(browser: Browser, client: RelyingParty, response_type: str, **changed: str | None) -> AnsweredStep:
    parameters = client.authorization_parameters(response_type=response_type, **{"nonce": "a nonce", **changed})
    return browser.authorize(parameters, app=client.app, protocol=client.protocol)


def fragment_of(step: AnsweredStep) -> dict[str, str]:
    assert step.kind is RedirectStep
    parts = urlsplit(step.address or "")
    assert parts.query == ""
    return parameters_of(step)


@pytest.fixture
def hybrid(world: World) -> RelyingParty:
    return world.application("Hybrid", grant_types=GRANTS, response_types=["code", *FRONT_CHANNEL_TYPES])


@pytest.fixture
def older_spa(world: World) -> RelyingParty:
    """An OAuth application from before the code flow was for browsers."""
    return world.application(
        "Older",
        secret=None,
        protocol="oauth",
        grant_types=["implicit"],
        response_types=["token"],
        application_type="spa",
    )


@pytest.mark.parametrize("response_type", FRONT_CHANNEL_TYPES)
def test_response_has_what_its_type_names(
    hybrid: RelyingParty, browser: Browser, ada: Person, response_type: str
) -> None:
    stored = fragment_of(ask(browser.signed_in(ada), hybrid, response_type))
    expected = set().union(*(MEMBERS[word] for word in response_type.split()))
    assert set(stored) == {*expected, "state", "iss"}
    assert (stored["state"], stored["iss"]) == ("a state", hybrid.issuer)
    if "token" in response_type.split():
        assert stored["access_token"] == stored["token"]
        assert (stored["token_type"], stored["expires_in"], stored["scope"]) == (
            "Bearer",
            "900",
            "openid profile email",
        )
        assert (hybrid.userinfo(stored["token"]).json or {})["sub"] == ada.uid


@pytest.mark.parametrize("response_type", [item for item in FRONT_CHANNEL_TYPES if "id_token" in item.split()])
def test_id_token_binds_nonce_code_and_token(
    hybrid: RelyingParty, browser: Browser, ada: Person, response_type: str
) -> None:
    stored = fragment_of(ask(browser.signed_in(ada), hybrid, response_type))
    keys = KeySet.import_key_set(hybrid.get("/service/oidc/jwks").get_json())
    claims = jwt.decode(stored["id_token"], keys, algorithms=["RS256"]).claims
    assert (claims["iss"], claims["sub"], claims["aud"]) == (hybrid.issuer, ada.uid, hybrid.client_id)
    assert claims["nonce"] == "a nonce"
    assert claims.get("c_hash") == (half_hash(stored["code"]) if "code" in stored else None)
    assert claims.get("at_hash") == (half_hash(stored["access_token"]) if "access_token" in stored else None)


def test_id_token_alone_has_claims_of_scopes(hybrid: RelyingParty, browser: Browser, ada: Person) -> None:
    alone = claims_in(fragment_of(ask(browser.signed_in(ada), hybrid, "id_token"))["id_token"])
    assert (alone["email"], alone["given_name"]) == (ada.email, "Ada")
    beside = claims_in(fragment_of(ask(browser, hybrid, "token id_token"))["id_token"])
    assert "email" not in beside


def test_words_of_a_response_type_have_no_order(hybrid: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    assert "id_token" in fragment_of(ask(browser, hybrid, "id_token token"))
    assert "code" in fragment_of(ask(browser, hybrid, "token code id_token"))
    for text in ("code code", "code  token", "code tokens", "none", " code", "token code id_token none"):
        assert parameters_of(ask(browser, hybrid, text))["error"] == "unsupported_response_type"


def test_code_of_hybrid_flow_brings_refresh_token(hybrid: RelyingParty, browser: Browser, ada: Person) -> None:
    front_channel = fragment_of(ask(browser.signed_in(ada), hybrid, "code id_token token"))
    back = hybrid.redeem(front_channel["code"]).json or {}
    assert back["refresh_token"]
    assert back["access_token"] != front_channel["access_token"]
    first, second = claims_in(front_channel["id_token"]), claims_in(back["id_token"])
    assert [first[name] for name in ("iss", "sub", "nonce", "sid")] == [
        second[name] for name in ("iss", "sub", "nonce", "sid")
    ]


def test_second_use_of_code_revokes_front_channel_token(hybrid: RelyingParty, browser: Browser, ada: Person) -> None:
    front_channel = fragment_of(ask(browser.signed_in(ada), hybrid, "code token"))
    assert hybrid.redeem(front_channel["code"]).status_code == 200
    assert hybrid.introspect(front_channel["token"])["active"] is True
    assert hybrid.redeem(front_channel["code"]).status_code == 400
    assert hybrid.introspect(front_channel["token"])["active"] is False


def test_implicit_token_ends_with_session(hybrid: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = fragment_of(ask(browser.signed_in(ada), hybrid, "token id_token", scope="openid email offline_access"))
    assert stored["scope"] == "openid email"
    described = hybrid.introspect(stored["token"])
    assert (described["active"], described["gty"]) == (True, "implicit")
    browser.sign_out(id_token_hint=stored["id_token"])
    assert hybrid.introspect(stored["token"])["active"] is False


def test_oauth_application_gets_token_without_nonce(older_spa: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = fragment_of(ask(browser.signed_in(ada), older_spa, "token", scope="profile", nonce=None))
    assert set(stored) == {*MEMBERS["token"], "state", "iss"}
    assert stored["iss"] == older_spa.issuer
    refused = fragment_of(ask(browser, older_spa, "token id_token", scope="openid"))
    assert refused["error"] == "unsupported_response_type"


@pytest.mark.parametrize("response_type", FRONT_CHANNEL_TYPES)
def test_unregistered_type_is_refused_in_fragment(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, response_type: str
) -> None:
    """Neither the type alone nor the grant alone is enough, and a client of the code flow has neither."""
    browser.signed_in(ada)
    typed = world.application("typed", response_types=["code", *FRONT_CHANNEL_TYPES])
    granted = world.application("granted", grant_types=GRANTS)
    for client in (shop, typed, granted):
        stored = fragment_of(ask(browser, client, response_type))
        assert stored["error"] == "unauthorized_client"
        assert stored["state"] == "a state"
        assert not {"code", "access_token", "token", "id_token"} & set(stored)


@pytest.mark.parametrize("is_own", [False, True], ids=["tenant", "own issuer"])
@pytest.mark.parametrize("response_type", ["code token", "token code"])
def test_code_token_needs_no_nonce(
    hybrid: RelyingParty, browser: Browser, ada: Person, is_own: bool, response_type: str
) -> None:
    """OpenID Connect Core section 3.3.2.11: a nonce is required where the browser brings an id_token."""
    client = hybrid.at_own_issuer() if is_own else hybrid
    stored = fragment_of(ask(browser.signed_in(ada), client, response_type, nonce=None))
    assert set(stored) == {*MEMBERS["code"], *MEMBERS["token"], "state", "iss"}
    assert "nonce" not in claims_in((client.redeem(stored["code"]).json or {})["id_token"])


def test_nonce_counts_in_the_request_object_alone(world: World, browser: Browser, ada: Person) -> None:
    """RFC 9101 section 6.3"""
    client = world.application(
        "signing",
        grant_types=GRANTS,
        response_types=["code", *FRONT_CHANNEL_TYPES],
        jwks=public_jwks(client_key("ES256")),
    )
    browser.signed_in(ada)
    for response_type, nonce, expected in (
        ("code token", None, "code"),
        ("code id_token", None, "error"),
        ("code id_token", "n", "code"),
    ):
        text = Signer(client).request_object(response_type=response_type, nonce=nonce)
        assert expected in fragment_of(ask(browser, client, response_type, request=text, nonce="beside"))


def test_pushed_code_token_needs_no_nonce(hybrid: RelyingParty) -> None:
    assert hybrid.push(response_type="code token").status_code == 201
    refused = hybrid.push(response_type="code id_token")
    assert (refused.status_code, (refused.json or {})["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("response_type", [item for item in FRONT_CHANNEL_TYPES if "id_token" in item.split()])
def test_missing_nonce_is_refused(hybrid: RelyingParty, browser: Browser, ada: Person, response_type: str) -> None:
    stored = fragment_of(ask(browser.signed_in(ada), hybrid, response_type, nonce=None))
    assert stored["error"] == "invalid_request"
    assert "nonce" in stored["error_description"]


@pytest.mark.parametrize("mode", ["query", "query.jwt"])
def test_query_is_refused_for_tokens(hybrid: RelyingParty, browser: Browser, ada: Person, mode: str) -> None:
    for response_type in FRONT_CHANNEL_TYPES:
        stored = fragment_of(ask(browser.signed_in(ada), hybrid, response_type, response_mode=mode))
        assert set(stored) == ({"response"} if "jwt" in mode else {"error", "error_description", "state", "iss"})


def test_form_post_brings_tokens(hybrid: RelyingParty, browser: Browser, ada: Person) -> None:
    step = ask(browser.signed_in(ada), hybrid, "code id_token", response_mode="form_post")
    assert step.kind is FormPostStep
    assert set(step.fields) == {"code", "id_token", "state", "iss"}
    refused = ask(browser, hybrid, "code id_token", response_mode="form_post", nonce=None)
    assert (refused.kind, refused.fields["error"]) == (FormPostStep, "invalid_request")


def test_refusals_after_sign_in_are_in_fragment(hybrid: RelyingParty, browser: Browser, ada: Person) -> None:
    assert fragment_of(ask(browser, hybrid, "id_token", prompt="none"))["error"] == "login_required"
    browser.signed_in(ada)
    step = ask(browser, hybrid, "id_token", prompt="consent")
    assert step.kind is ConsentStep
    assert fragment_of(browser.consent(step.interaction_id or "", allow=False))["error"] == "access_denied"


def test_pages_continue_to_tokens_and_repeat_them(hybrid: RelyingParty, browser: Browser, ada: Person) -> None:
    step = ask(browser, hybrid, "code id_token token")
    assert step.kind is LoginStep
    first = fragment_of(browser.sign_in(step.interaction_id, ada.email, ada.password))
    assert claims_in(first["id_token"])["sub"] == ada.uid
    again = fragment_of(browser.sign_in(step.interaction_id, ada.email, ada.password))
    assert again["code"] != first["code"]
    assert again["token"] != first["token"]


def test_public_client_needs_challenge_only_with_a_code(world: World, browser: Browser, ada: Person) -> None:
    spa = world.application("spa", secret=None, grant_types=GRANTS, response_types=["id_token", "code id_token"])
    browser.signed_in(ada)
    assert "id_token" in fragment_of(ask(browser, spa, "id_token"))
    assert fragment_of(ask(browser, spa, "code id_token"))["error"] == "invalid_request"
    assert "code" in fragment_of(ask(browser, spa, "code id_token", code_challenge=Pkce().challenge))


def test_implicit_is_no_grant_of_the_token_endpoint(hybrid: RelyingParty) -> None:
    answer = hybrid.back("token", {"grant_type": "implicit", **hybrid.client_credentials()})
    assert (answer.status_code, (answer.json or {})["error"]) == (400, "unsupported_grant_type")


def test_pushed_request_is_checked_and_served(hybrid: RelyingParty, browser: Browser, ada: Person) -> None:
    refused = hybrid.push(response_type="code id_token", response_mode="query", nonce="n")
    assert (refused.status_code, (refused.json or {})["error"]) == (400, "invalid_request")
    pushed = hybrid.push(response_type="code id_token", nonce="n").json or {}
    step = browser.signed_in(ada).authorize({"client_id": hybrid.client_id, "request_uri": pushed["request_uri"]})
    assert {"code", "id_token"} <= set(fragment_of(step))


def test_signed_access_token_comes_in_front_channel(world: World, browser: Browser, ada: Person) -> None:
    client = world.application(
        "signed", grant_types=GRANTS, response_types=["token id_token"], access_token_format="jwt"
    )
    stored = fragment_of(ask(browser.signed_in(ada), client.at_own_issuer(), "token id_token"))
    assert claims_in(stored["token"])["iss"] == client.at_own_issuer().issuer == stored["iss"]
    assert claims_in(stored["id_token"])["at_hash"] == half_hash(stored["token"])


def test_only_tenants_with_open_registration_advertise_them(new_world: NewWorld) -> None:
    address = "/.well-known/openid-configuration"
    opened = new_world(client_registration={"mode": "open"})
    metadata = opened.application("x").get(address).json or {}
    assert {"code", *FRONT_CHANNEL_TYPES, "id_token token"} == set(metadata["response_types_supported"])
    assert "implicit" in metadata["grant_types_supported"]
    for mode in ("closed", "initial_access_token"):
        client = new_world(client_registration={"mode": mode}).application("x")
        metadata = client.get(address).json or {}
        assert metadata["response_types_supported"] == ["code"]
        assert "implicit" not in metadata["grant_types_supported"]
    older = opened.application("y", protocol="oauth")
    oauth = older.get("/oauth/y/.well-known/oauth-authorization-server").json or {}
    assert oauth["response_types_supported"] == ["code", "token"]
