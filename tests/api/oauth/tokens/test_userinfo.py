"""Userinfo, introspection and revocation."""

from collections.abc import Callable
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from werkzeug.test import Client as WsgiClient
from werkzeug.test import TestResponse

from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, claims_in, moved
from tests.support.oauth.world import World
from tests.support.tenants.tenant_server import TenantServer


def tokens(client: RelyingParty, browser: Browser, person: Person, **changed: str | None) -> dict[str, Any]:
    stored: dict[str, Any] = client.redeem(browser.code(client, person, **changed)).get_json()
    return stored


def test_scopes_select_userinfo_claims(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    def claims(scope: str) -> dict[str, Any]:
        stored: dict[str, Any] = shop.userinfo(tokens(shop, browser, ada, scope=scope)["access_token"]).get_json()
        return stored

    assert claims("openid") == {"sub": ada.uid}
    assert claims("openid email") == {"sub": ada.uid, "email": ada.email, "email_verified": True}
    person = claims("openid profile")
    assert (person["name"], person["given_name"], person["family_name"]) == ("Ada Lovelace", "Ada", "Lovelace")
    assert person["birthdate"] == "1815-12-10"
    assert isinstance(person["updated_at"], int)
    assert "email" not in person
    address = claims("openid address")["address"]
    assert address == {
        "street_address": "12 St James's Square",
        "locality": "London",
        "postal_code": "SW1Y 4JH",
        "country": "UK",
    }


def test_userinfo_accepts_get_and_post_and_token_in_body(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    token = tokens(shop, browser, ada)["access_token"]
    assert shop.post("/service/oidc/userinfo", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert shop.post("/service/oidc/userinfo", {"access_token": token}).status_code == 200
    answer = shop.userinfo(token)
    assert answer.headers["Cache-Control"] == "no-store"


def test_invalid_access_token_is_refused_with_challenge(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(shop, browser, ada)
    for text in ("nonsense", stored["refresh_token"], stored["id_token"], "x" * 9000):
        answer = shop.userinfo(text)
        assert answer.status_code == 401
        assert (answer.json or {})["error"] == "invalid_token"
        assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer"}, {"Authorization": "Basic c2hvcDp4"}])
def test_missing_access_token_is_challenged_without_error(shop: RelyingParty, headers: dict[str, str]) -> None:
    """RFC 6750 section 3.1: a client that sent nothing learns only how to authenticate."""
    answer = shop.get("/service/oidc/userinfo", headers=headers)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="account"')


def error_parts(answer: TestResponse) -> tuple[int, str, str]:
    return answer.status_code, (answer.json or {})["error"], answer.headers["WWW-Authenticate"]


MALFORMED = (400, "invalid_request", 'Bearer error="invalid_request"')


@pytest.mark.parametrize("path", ["/service/oidc/userinfo", "/service/oidc/Shop/userinfo"])
def test_access_token_sent_twice_is_refused(shop: RelyingParty, browser: Browser, ada: Person, path: str) -> None:
    """RFC 6750 section 2."""
    token = tokens(shop, browser, ada)["access_token"]
    header, query = {"Authorization": f"Bearer {token}"}, {"access_token": token}
    assert error_parts(shop.get(path, headers=header, query_string=query)) == MALFORMED
    assert error_parts(shop.get(path, query_string=[*query.items(), *query.items()])) == MALFORMED
    assert error_parts(shop.post(path, query, headers=header)) == MALFORMED
    assert error_parts(shop.post(path, query, query_string=query)) == MALFORMED


def test_access_token_in_query_is_refused_at_standard_address(
    shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    """RFC 9700 section 4.3.2; the interface's own addresses keep the parameter."""
    query = {"access_token": tokens(shop, browser, ada)["access_token"]}
    assert error_parts(shop.get("/service/oidc/userinfo", query_string=query)) == MALFORMED
    assert shop.get("/service/oidc/Shop/userinfo", query_string=query).status_code == 200


def test_updated_at_moves_with_the_claims_alone(acme: TenantServer, identity_app: Any) -> None:
    """Core section 5.1; a sign-in changes no claim."""
    world = World(acme.services, WsgiClient(identity_app), acme.tenant_id, acme.name, acme.api_key)
    shop, ada = world.application("shop"), world.person("ada@example.test")

    def updated_at() -> int:
        stored = tokens(shop, world.browser(), ada)
        return int((shop.userinfo(stored["access_token"]).json or {})["updated_at"])

    created = updated_at()
    with moved(acme.services, minutes=1):
        assert updated_at() == created
    for minutes, change in enumerate(
        ({"NickName": "Countess"}, {"PhoneId": "+442079460123"}, {"UserName": "ada"}), start=2
    ):
        with moved(acme.services, minutes=minutes):
            acme.update(ada.uid, change)
            assert created + 60 * minutes - 5 <= updated_at() <= created + 60 * minutes + 55


@pytest.mark.parametrize("name", ["ImageUrl", "HttpsImageUrl", "GravatarImageUrl", "ThumbnailImageUrl"])
def test_picture_is_the_image_of_the_profile(world: World, shop: RelyingParty, name: str) -> None:
    """Core section 5.1: a picture of the person; the picture that our pages show comes first."""
    eve = world.person("eve@example.test", **{name: "https://pictures.example/eve.png"})
    stored = tokens(shop, world.browser(), eve, scope="openid profile")
    assert (shop.userinfo(stored["access_token"]).json or {})["picture"] == "https://pictures.example/eve.png"
    both = {"ImageUrl": "https://pictures.example/own.png", "GravatarImageUrl": "https://pictures.example/other.png"}
    may = world.person("may@example.test", **both)
    stored = tokens(shop, world.browser(), may, scope="openid profile")
    assert (shop.userinfo(stored["access_token"]).json or {})["picture"] == "https://pictures.example/own.png"


def test_userinfo_without_openid_scope_is_refused(legacy: RelyingParty, browser: Browser, ada: Person) -> None:
    token = tokens(legacy, browser, ada, scope="profile")["access_token"]
    answer = legacy.get("/service/oidc/userinfo", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, (answer.json or {})["error"]) == (403, "insufficient_scope")


def test_token_is_refused_at_other_application_and_tenant(
    shop: RelyingParty, strict: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    token = tokens(shop, browser, ada)["access_token"]
    assert shop.at_own_issuer().userinfo(token).status_code == 200
    assert strict.at_own_issuer().userinfo(token).status_code == 401
    assert foreign_shop.userinfo(token).status_code == 401


def test_userinfo_of_closed_account_is_refused(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    token = tokens(shop, browser, ada)["access_token"]
    ada.close()
    assert shop.userinfo(token).status_code == 401


def test_userinfo_can_be_signed(world: World, browser: Browser, ada: Person) -> None:
    signed = world.application("signed", signed_userinfo=True)
    answer = signed.userinfo(tokens(signed, browser, ada)["access_token"])
    assert answer.mimetype == "application/jwt"
    keys = KeySet.import_key_set(signed.get("/service/oidc/jwks").get_json())
    claims = jwt.decode(answer.text, keys, algorithms=["RS256"]).claims
    assert (claims["iss"], claims["aud"], claims["sub"]) == (signed.hub_url, signed.client_id, ada.uid)


def test_userinfo_and_introspection_cost_one_statement(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    token = tokens(shop, browser, ada)["access_token"]

    def fewest(ask: Callable[[], TestResponse]) -> int:
        return min(browser.spent(ask())["sql"] for _ in range(3))  # any may read the tenant anew

    assert fewest(lambda: shop.userinfo(token)) == 1
    assert fewest(lambda: shop.back("introspect", {"token": token, **shop.client_credentials()})) == 1


def test_introspection_has_standard_and_interface_members(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(shop, browser, ada)
    introspection = shop.introspect(stored["access_token"])
    assert introspection["active"] is True
    assert introspection["sub"] == ada.uid
    assert introspection["client_id"] == introspection["cid"] == introspection["azp"] == "shop"
    assert introspection["iss"] == shop.issuer
    assert introspection["aud"] == ["shop"]
    assert introspection["scope"] == "openid profile email"
    assert introspection["scp"] == ["openid", "profile", "email"]
    assert introspection["gty"] == "authorization_code"
    assert introspection["exp"] - introspection["iat"] == stored["expires_in"]
    assert introspection["nbf"] == introspection["iat"]
    assert shop.introspect(stored["refresh_token"])["active"] is True


def test_introspection_of_foreign_token_is_inactive_alone(
    shop: RelyingParty,
    strict: RelyingParty,
    foreign_shop: RelyingParty,
    browser: Browser,
    ada: Person,
) -> None:
    token = tokens(shop, browser, ada)["access_token"]
    inactive = {"active": False}
    assert shop.introspect("nonsense") == inactive
    assert foreign_shop.introspect(token) == inactive
    assert strict.at_own_issuer().introspect(token) == inactive
    assert strict.introspect(token) == inactive
    assert shop.back("introspect", {"token": token}).status_code == 401
    assert shop.back("introspect", shop.client_credentials()).status_code == 400


def test_resource_server_introspects_access_tokens_only(
    world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    orders = world.application("orders", resource_server=True)
    stored = tokens(shop, browser, ada)
    assert orders.introspect(stored["access_token"])["sub"] == ada.uid
    assert orders.introspect(stored["refresh_token"]) == {"active": False}
    assert orders.at_own_issuer().introspect(stored["access_token"]) == {"active": False}


def test_resource_server_introspects_interface_tokens(acme: TenantServer, identity_app: Any) -> None:
    token = acme.tokens(str(acme.create()["Uid"]))["access_token"]
    world = World(acme.services, WsgiClient(identity_app), acme.tenant_id, acme.name, acme.api_key)
    plain, orders = world.application("plain"), world.application("orders", resource_server=True)
    assert plain.introspect(token) == {"active": False}
    assert orders.introspect(token)["active"] is True
    assert "client_id" not in orders.introspect(token)


def test_public_client_cannot_introspect(
    phone: RelyingParty, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    """RFC 7662 section 2.1: not even its own tokens, since an attacker who knows the client_id could probe tokens."""
    pkce = Pkce()
    code = browser.code(phone, ada, code_challenge=pkce.challenge, code_challenge_method="S256")
    own = phone.redeem(code, code_verifier=pkce.verifier).json or {}
    for client in (phone, phone.at_own_issuer()):
        for token in (own["access_token"], "nonsense"):
            answer = client.back("introspect", {"token": token, "client_id": phone.client_id})
            assert (answer.status_code, (answer.json or {})["error"]) == (401, "invalid_client")
    body = shop.get("/.well-known/openid-configuration").json or {}
    assert "none" not in body["introspection_endpoint_auth_methods_supported"]
    assert "none" in body["revocation_endpoint_auth_methods_supported"]


def test_revoked_refresh_token_revokes_authorization(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """RFC 7009 section 2.1: revoking any refresh token ends the whole authorization."""
    for is_used in (False, True):
        first, other = tokens(shop, browser, ada), tokens(shop, browser, ada)
        second = shop.refresh(first["refresh_token"]).json or {}
        shown = first if is_used else second
        answer = shop.back("revoke", {"token": shown["refresh_token"], **shop.client_credentials()})
        assert (answer.status_code, answer.data) == (200, b"")
        assert "Content-Type" not in answer.headers, "an empty body is no JSON"
        assert shop.refresh(second["refresh_token"]).status_code == 400
        assert [shop.userinfo(item["access_token"]).status_code for item in (first, second, other)] == [401, 401, 200]


def test_access_token_is_revoked_and_older_parameter_is_read(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(shop, browser, ada)
    shop.back(
        "revoke", {"token": stored["access_token"], "token_type_hint": "refresh_token", **shop.client_credentials()}
    )
    assert shop.userinfo(stored["access_token"]).status_code == 401
    assert (
        shop.back("revoke", {"refresh_token": stored["refresh_token"], **shop.client_credentials()}).status_code == 200
    )
    assert shop.refresh(stored["refresh_token"]).status_code == 400


def test_token_of_another_client_cannot_be_revoked(
    shop: RelyingParty, strict: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    stored = tokens(shop, browser, ada)
    for client in (strict, foreign_shop):
        for token in (stored["access_token"], stored["refresh_token"], "nonsense"):
            assert client.back("revoke", {"token": token, **client.client_credentials()}).status_code == 200
    assert shop.userinfo(stored["access_token"]).status_code == 200
    assert shop.refresh(stored["refresh_token"]).status_code == 200
    assert shop.back("revoke", {"token": "x", "client_id": "shop", "client_secret": "wrong"}).status_code == 401
    assert shop.back("revoke", shop.client_credentials()).status_code == 400


def test_signed_access_token_can_be_revoked(machine_readable: RelyingParty, browser: Browser, ada: Person) -> None:
    token = tokens(machine_readable, browser, ada)["access_token"]
    assert claims_in(token)["sub"] == ada.uid
    machine_readable.back("revoke", {"token": token, **machine_readable.client_credentials()})
    assert machine_readable.userinfo(token).status_code == 401
