"""The authorization code flow, from the authorization request to the tokens."""

import hashlib
from base64 import urlsafe_b64encode

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from app.contract.steps import FormPostStep, LoginStep, RedirectStep
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, claims_in, code_of, parameters_of


def test_browser_without_session_signs_in_and_gets_code(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.authorize(shop.authorization_parameters(login_hint=ada.email, ui_locales="de en", display="popup"))
    assert step.kind is LoginStep
    assert step.interaction_id is not None
    assert step.binding is not None
    assert (step.login_hint, step.ui_locales, step.display) == (ada.email, "de en", "popup")
    assert step.relying_party is not None
    assert step.relying_party.client_id == shop.client_id
    assert step.relying_party.redirect_origin == "https://shop.example"
    back = browser.sign_in(step.interaction_id, ada.email, ada.password)
    assert back.kind is RedirectStep
    assert back.address is not None
    assert back.address.startswith(shop.redirect_uri + "?")
    stored = parameters_of(back)
    assert stored["state"] == "a state"
    assert stored["iss"] == shop.issuer
    assert shop.redeem(stored["code"]).status_code == 200


def test_browser_with_session_gets_code_without_page(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.sign_in(None, ada.email, ada.password)
    step = browser.authorize(shop.authorization_parameters())
    assert step.kind is RedirectStep
    assert step.interaction_id is None
    assert step.binding is None


def test_token_response_has_standard_and_interface_members(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    answer = shop.redeem(browser.code(shop, ada))
    body = answer.json or {}
    assert (answer.headers["Cache-Control"], answer.headers["Pragma"]) == ("no-store", "no-cache")
    assert body["token_type"] == "Bearer"
    assert body["expire_in"] == str(body["expires_in"])
    assert isinstance(body["expires_in"], int)
    assert body["scope"] == "openid profile email"
    assert set(body) == {"access_token", "refresh_token", "id_token", "token_type", "expires_in", "expire_in", "scope"}


def test_token_request_accepts_json_body(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    body = {
        "grant_type": "authorization_code",
        "code": browser.code(shop, ada),
        "redirect_uri": shop.redirect_uri,
        **shop.client_credentials(),
    }
    assert shop.wsgi.post("/api/oidc/token", json=body, base_url=shop.hub_url).status_code == 200


def test_id_token_verifies_with_published_keys(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    body = shop.redeem(browser.code(shop, ada, nonce="a nonce")).json or {}
    keys = KeySet.import_key_set(shop.get("/service/oidc/jwks").get_json())
    claims = jwt.decode(body["id_token"], keys, algorithms=["RS256"]).claims
    assert claims["iss"] == shop.issuer
    assert claims["sub"] == ada.uid
    assert claims["aud"] == claims["azp"] == shop.client_id
    assert claims["nonce"] == "a nonce"
    assert claims["amr"] == ["pwd"]
    assert claims["acr"] == "1"
    assert claims["sid"]
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["auth_time"] <= claims["iat"]
    half = hashlib.sha256(body["access_token"].encode()).digest()[:16]
    assert claims["at_hash"] == urlsafe_b64encode(half).rstrip(b"=").decode()


def test_application_issuer_is_named_in_response_and_id_token(
    shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    own = shop.at_own_issuer()
    step = browser.signed_in(ada).authorize(own.authorization_parameters(), app=(own.app or "").upper())
    assert parameters_of(step)["iss"] == own.issuer
    body = own.redeem(code_of(step)).json or {}
    assert claims_in(body["id_token"])["iss"] == own.issuer
    assert own.userinfo(body["access_token"]).status_code == 200


def test_oauth_application_gets_no_id_token(legacy: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.signed_in(ada).authorize(
        legacy.authorization_parameters(scope="profile"), app=legacy.app, protocol="oauth"
    )
    assert parameters_of(step)["iss"] == legacy.issuer
    body = legacy.redeem(code_of(step)).json or {}
    assert "id_token" not in body
    assert body["expire_in"] == "900"


def test_response_modes_return_code_state_and_issuer(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    for mode, mark in (("query", "?code="), ("fragment", "#code=")):
        address = browser.authorize(shop.authorization_parameters(response_mode=mode)).address or ""
        assert address.startswith(shop.redirect_uri + mark)
    posted = browser.authorize(shop.authorization_parameters(response_mode="form_post"))
    assert posted.kind is FormPostStep
    assert posted.address == shop.redirect_uri
    assert set(posted.fields) == {"code", "state", "iss"}


def test_redirect_uri_keeps_its_query(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    address = (
        browser.signed_in(ada)
        .authorize(shop.authorization_parameters(redirect_uri="https://shop.example/cb?tenant=1"))
        .address
        or ""
    )
    assert address.startswith("https://shop.example/cb?tenant=1&code=")


def test_public_client_redeems_code_with_pkce(phone: RelyingParty, browser: Browser, ada: Person) -> None:
    pkce = Pkce()
    code = browser.code(phone, ada, code_challenge=pkce.challenge, code_challenge_method="S256")
    assert phone.redeem(code, code_verifier=pkce.verifier).status_code == 200


def test_sha256_is_alias_and_default_of_s256(phone: RelyingParty, browser: Browser, ada: Person) -> None:
    for method in ("SHA256", None):
        pkce = Pkce()
        code = browser.code(phone, ada, code_challenge=pkce.challenge, code_challenge_method=method)
        assert phone.redeem(code, code_verifier=pkce.verifier).status_code == 200


def test_signed_access_token_follows_rfc_9068(machine_readable: RelyingParty, browser: Browser, ada: Person) -> None:
    body = machine_readable.redeem(browser.code(machine_readable, ada)).json or {}
    keys = KeySet.import_key_set(machine_readable.get("/service/oidc/jwks").get_json())
    token = jwt.decode(body["access_token"], keys, algorithms=["RS256"])
    assert token.header["typ"] == "at+jwt"
    assert token.claims["client_id"] == machine_readable.client_id
    assert token.claims["sub"] == ada.uid
    assert machine_readable.userinfo(body["access_token"]).status_code == 200
    assert machine_readable.userinfo(body["id_token"]).status_code == 401


def test_flow_with_session_stays_within_statement_budget(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    shop.redeem(browser.code(shop, ada))  # fills the caches of keys, tenant and application
    pkce = Pkce()
    step = browser.authorize(shop.authorization_parameters(code_challenge=pkce.challenge))
    first = browser.spent()
    answer = shop.redeem(code_of(step), code_verifier=pkce.verifier)
    second = browser.spent(answer)
    assert first["sql"] + second["sql"] <= 10
    assert first["commits"] + second["commits"] == 2
    assert (first["signatures"], second["signatures"]) == (0, 1)


def test_hub_is_public_client_of_tenant(browser: Browser, shop: RelyingParty, ada: Person) -> None:
    own = browser.own_client("profile").json or {}
    assert own["ClientId"] == "gatehouse-profile"
    assert own["Issuer"] == shop.hub_url
    pkce = Pkce()
    hub = shop.as_client("gatehouse-profile", f"{shop.hub_url}/callback/profile")
    code = browser.code(hub, ada, code_challenge=pkce.challenge)
    body = hub.redeem(code, code_verifier=pkce.verifier).json or {}
    assert claims_in(body["id_token"])["sub"] == ada.uid
    assert "refresh_token" not in body
    assert browser.own_client("else").status_code == 403


@pytest.mark.parametrize(
    "path", ["/api/oidc/token", "/api/oidc/Shop/token", "/api/oauth/Legacy/token", "/service/oauth/token"]
)
@pytest.mark.parametrize("form", [{}, {"grant_type": "authorization_code", "code": "x"}, {"grant_type": "else"}])
def test_token_errors_are_not_cacheable(
    shop: RelyingParty, legacy: RelyingParty, path: str, form: dict[str, str]
) -> None:
    """RFC 6749 sections 5.1 and 5.2, with and without credentials, and where the method is wrong."""
    client = legacy if "oauth/L" in path else shop
    key = {"apikey": client.api_key}
    refusals = [
        client.post(path, form, query_string=key),
        client.post(path, {**form, **client.client_credentials()}, query_string=key),
        client.post(path, {**form, **client.client_credentials(), "client_secret": "wrong"}),
        client.get(path),
    ]
    for answer in refusals:
        assert answer.status_code >= 400
        assert (answer.headers["Cache-Control"], answer.headers["Pragma"]) == ("no-store", "no-cache")
