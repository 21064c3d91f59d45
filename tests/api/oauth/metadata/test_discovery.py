"""Discovery and key sets."""

from typing import Any

import pytest
from joserfc import jws

from app.identity import create_services
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.oauth.world import World

SHARED = [
    "/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server",
    "/.WELL-KNOWN/OpenID-Configuration",
]
OWN = [
    "/service/oidc/shop/.well-known/openid-configuration",
    "/.well-known/openid-configuration/service/oidc/Shop",
    "/.well-known/oauth-authorization-server/service/oidc/Shop",
    "/oidc/Shop/.well-known/oauth-authorization-server",
    "/OIDC/SHOP/.Well-Known/OAuth-Authorization-Server",
]
LEGACY = [
    "/oauth/Legacy/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/service/oauth/legacy",
]


@pytest.mark.parametrize(
    "address",
    [*SHARED, "/oidc/.well-known/oauth-authorization-server", "/oauth/.well-known/oauth-authorization-server"],
)
def test_tenant_issuer_metadata_is_complete(shop: RelyingParty, address: str) -> None:
    metadata = shop.get(address).json or {}
    url = shop.hub_url
    assert metadata["issuer"] == url
    assert metadata["authorization_endpoint"] == f"{url}/service/oidc/authorize"
    assert metadata["token_endpoint"] == f"{url}/api/oidc/token"
    assert metadata["introspection_endpoint"] == f"{url}/api/oidc/introspect"
    assert metadata["revocation_endpoint"] == f"{url}/api/oidc/revoke"
    assert metadata["userinfo_endpoint"] == f"{url}/service/oidc/userinfo"
    assert metadata["jwks_uri"] == f"{url}/service/oidc/jwks"
    assert metadata["end_session_endpoint"] == f"{url}/service/oidc/logout"


@pytest.mark.parametrize("address", OWN)
def test_application_issuer_metadata_is_complete(shop: RelyingParty, address: str) -> None:
    metadata = shop.get(address).json or {}
    own = f"{shop.hub_url}/service/oidc/Shop"
    assert metadata["issuer"] == own
    assert metadata["authorization_endpoint"] == f"{own}/authorize"
    assert metadata["jwks_uri"] == f"{own}/jwks"
    assert metadata["token_endpoint"] == f"{shop.hub_url}/api/oidc/Shop/token"


@pytest.mark.parametrize("address", LEGACY)
def test_token_endpoint_of_oauth_application_has_api_key(legacy: RelyingParty, address: str) -> None:
    metadata = legacy.get(address).json or {}
    assert metadata["issuer"] == f"{legacy.hub_url}/service/oauth/Legacy"
    assert metadata["token_endpoint"] == f"{legacy.hub_url}/api/oauth/Legacy/token?apikey={legacy.api_key}"
    assert "userinfo_endpoint" not in metadata


@pytest.mark.parametrize("settings", [{"require_pushed_authorization_requests": True}, {"security_profile": "fapi2"}])
def test_application_that_must_push_publishes_it_at_its_issuer(world: World, settings: dict[str, Any]) -> None:
    """RFC 9126 section 5: at the tenant's issuer, others need not push."""
    strict, free = world.application("strict", **settings), world.application("free")
    name = "require_pushed_authorization_requests"
    said = {
        app: (free.get(f"/service/oidc/{app}/.well-known/openid-configuration").json or {})[name]
        for app in ("strict", "free")
    }
    assert said == {"strict": True, "free": False}
    assert (strict.get(SHARED[0]).json or {})[name] is False


def test_application_that_must_sign_publishes_it_at_its_issuer(world: World) -> None:
    """RFC 9101 section 10.5, FAPI 2.0 Message Signing section 5.3.3: at the tenant's issuer, others need not."""
    world.application("strict", require_signed_request_object=True, response_modes=["jwt", "form_post.jwt"])
    free = world.application("free")
    at_its_own, at_another, shared = (
        free.get(address).json or {}
        for address in (
            *(f"/service/oidc/{item}/.well-known/openid-configuration" for item in ("strict", "free")),
            SHARED[0],
        )
    )
    assert at_its_own["require_signed_request_object"] is True
    assert at_its_own["response_modes_supported"] == ["jwt", "form_post.jwt"]
    assert at_another["require_signed_request_object"] is shared["require_signed_request_object"] is False
    assert at_another["response_modes_supported"] == shared["response_modes_supported"]
    assert {"query", "form_post", "jwt"} <= set(shared["response_modes_supported"])


def test_metadata_lists_supported_features(shop: RelyingParty) -> None:
    metadata = shop.get(SHARED[0]).json or {}
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["id_token_signing_alg_values_supported"] == ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"]
    assert metadata["authorization_response_iss_parameter_supported"] is True
    assert metadata["grant_types_supported"] == [
        "authorization_code",
        "refresh_token",
        "client_credentials",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        "http://gatehouse/oauth/grant-type/exchange_token",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
    ]
    assert set(metadata["token_endpoint_auth_methods_supported"]) == {
        "none",
        "client_secret_post",
        "client_secret_basic",
        "client_secret_jwt",
        "private_key_jwt",
    }
    assert set(metadata["scopes_supported"]) >= {"openid", "email", "phone", "profile", "address"}


@pytest.mark.parametrize(
    "address",
    [
        "/service/oidc/absent/.well-known/openid-configuration",
        "/oidc/legacy/.well-known/oauth-authorization-server",
        "/oauth/shop/.well-known/oauth-authorization-server",
        "/service/oidc/absent/jwks",
    ],
)
def test_metadata_of_unknown_application_is_not_found(shop: RelyingParty, legacy: RelyingParty, address: str) -> None:
    assert shop.get(address).status_code == 404


def test_issuer_without_tenant_is_not_found_and_named(shop: RelyingParty) -> None:
    answer = shop.wsgi.get("/.well-known/openid-configuration", headers={"Host": "absent.localhost:8000"})
    assert (answer.status_code, (answer.json or {})["error"]) == (404, "not_found")
    assert (answer.json or {})["error_description"] == (
        "No tenant has the host absent.localhost:8000. An issuer here is a tenant's address: http://TENANT.localhost:8000"
    )


def test_unknown_tenant_is_refused_without_naming_others(shop: RelyingParty) -> None:
    for host in (
        "absent.localhost:8000",
        "localhost:8000",
        "evil.example",
        f"{shop.tenant_name}.evil.example",
        "a" * 300,
    ):
        answer = shop.wsgi.get(SHARED[0], headers={"Host": host})
        assert answer.status_code in (400, 404)
        assert shop.tenant_name not in answer.text.replace(host, "")


def test_issuer_ignores_forwarded_headers_and_host_case(shop: RelyingParty) -> None:
    headers = {
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "https",
        "Host": f"{shop.tenant_name.upper()}.localhost:8000",
    }
    assert (shop.wsgi.get(SHARED[0], headers=headers).json or {})["issuer"] == shop.hub_url


def test_jwks_contains_public_key_members_only(shop: RelyingParty) -> None:
    for address in ("/service/oidc/jwks", "/service/oidc/Shop/JWKS", "/Service/OAuth/jwks"):
        keys = (shop.get(address).json or {})["keys"]
        assert keys
        for key in keys:
            assert {"kty", "use", "alg", "kid", "n", "e"} == set(key)
            assert (key["kty"], key["use"], key["alg"]) == ("RSA", "sig", "RS256")


def test_tenants_share_no_signing_key(shop: RelyingParty, foreign_shop: RelyingParty) -> None:
    def ids(client: RelyingParty) -> set[str]:
        return {key["kid"] for key in (client.get("/service/oidc/jwks").json or {})["keys"]}

    assert not ids(shop) & ids(foreign_shop)


@pytest.mark.parametrize(
    "address",
    ["/.well-known/openid-configuration", "/service/oidc/Shop/.well-known/openid-configuration", "/service/oidc/jwks"],
)
def test_metadata_is_served_from_cache(shop: RelyingParty, browser: Browser, address: str) -> None:
    shop.get(address)
    again = shop.get(address)
    assert browser.spent(again)["sql"] == 0
    assert again.headers["Cache-Control"] == "public, max-age=300"


def test_rotated_key_is_published_before_it_signs(
    services: IdentityServices, world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    def kid() -> str:
        text = (shop.redeem(browser.code(shop, ada)).json or {})["id_token"]
        return str(jws.extract_compact(text.encode()).headers()["kid"])

    def published() -> set[str]:
        return {key["kid"] for key in (shop.get("/service/oidc/jwks").json or {})["keys"]}

    old = kid()
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        new = services.signing_keys.rotate(work)
    services.signing_keys.clear_cache()
    assert published() == {old, new}
    assert kid() == old


def test_every_process_signs_with_the_first_key(services: IdentityServices, world: World) -> None:
    other = create_services(services.settings, services.clock)
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        first = services.signing_keys.sign(work, {"sub": "ada"})
    with UnitOfWork(other.database, world.tenant_id).separate_transaction() as work:
        second = other.signing_keys.sign(work, {"sub": "ada"})
    other.database.dispose()
    assert first == second
