"""CORS: any page may read metadata, keys and registrations; responses to a client are for the origins of that client."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from werkzeug.test import Client, TestResponse

from app.identity import create_app, create_service
from app.identity.platform.services import IdentityServices
from tests.support.oauth.registrations import Registrar
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty
from tests.support.oauth.world import NewWorld, World

PAGE, OTHER, INSPECTOR = "https://app.example", "https://other.example", "http://localhost:6274"
EVIL = "https://evil.example"
OTHER_ORIGINS = (
    EVIL,
    "https://app.example.evil.example",
    "http://app.example",
    "null",
    "",
    "https://app.example/",
    "https://APP.example",
)
DOCUMENTS = (
    "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server", "/service/oidc/jwks", "/service/oauth/jwks",
    "/service/oidc/Shop/.well-known/openid-configuration", "/.well-known/openid-configuration/service/oidc/Shop",
    "/.well-known/oauth-authorization-server/service/oidc/Shop", "/service/oidc/Shop/jwks", "/oidc/.well-known/oauth-authorization-server",
)  # fmt: skip
OF_CLIENTS = (
    "/api/oidc/token", "/api/oidc/spa/token", "/api/oauth/spa/token", "/api/oidc/revoke", "/api/oidc/spa/revoke", "/api/oidc/par",
    "/api/oidc/device", "/service/oidc/userinfo", "/service/oidc/spa/userinfo",
)  # fmt: skip


def allowed(answer: TestResponse) -> str | None:
    assert "Access-Control-Allow-Credentials" not in answer.headers
    return answer.headers.get("Access-Control-Allow-Origin")


def preflight(
    at: RelyingParty | World, path: str, origin: str, method: str = "POST", headers: str = ""
) -> TestResponse:
    base = at.hub_url if isinstance(at, RelyingParty) else at.services.settings.hub_url(at.name)
    sent = {"Origin": origin, "Access-Control-Request-Method": method}
    sent |= {"Access-Control-Request-Headers": headers} if headers else {}
    return at.wsgi.options(path, headers=sent, base_url=base)


@pytest.fixture
def spa(world: World) -> RelyingParty:
    return world.application("spa", secret=None, redirect_uris=[f"{PAGE}/cb"], cors_origins=[OTHER])


@pytest.fixture
def registrar(new_world: NewWorld) -> Registrar:
    return Registrar(new_world(client_registration={"mode": "open"}))


def token_request(client: RelyingParty, browser: Browser, person: Person) -> dict[str, str]:
    pkce = Pkce()
    code = browser.code(client, person, code_challenge=pkce.challenge)
    return {
        "grant_type": "authorization_code", "client_id": client.client_id, "code": code, "redirect_uri": client.redirect_uri,
        "code_verifier": pkce.verifier,
    }  # fmt: skip


@pytest.mark.parametrize("origin", [PAGE, EVIL, "null", "chrome-extension://x", None])
def test_documents_are_for_pages_of_any_origin(
    shop: RelyingParty, origin: str | None, subtests: pytest.Subtests
) -> None:
    headers = {"Origin": origin} if origin is not None else {}
    for path in DOCUMENTS:
        with subtests.test(path):
            for _ in range(2):  # the second one is cached
                answer = shop.get(path, headers=headers)
                assert (answer.status_code, allowed(answer), answer.headers.get("Vary")) == (200, "*", None)
            assert allowed(preflight(shop, path, EVIL, "GET", "mcp-protocol-version")) == "*"


def test_document_errors_are_for_pages_of_any_origin(shop: RelyingParty, subtests: pytest.Subtests) -> None:
    for path, status in (
        ("/service/oidc/absent/.well-known/openid-configuration", 404),
        ("/service/oidc/absent/jwks", 404),
    ):
        with subtests.test(path):
            answer = shop.get(path, headers={"Origin": EVIL})
            assert (answer.status_code, allowed(answer)) == (status, "*")
    wrong = shop.post("/.well-known/openid-configuration", headers={"Origin": EVIL})
    assert (wrong.status_code, allowed(wrong)) == (405, "*")


def test_registration_is_for_pages_of_any_origin(registrar: Registrar) -> None:
    world = registrar.world
    made = registrar.register()
    assert (made.status_code, allowed(made)) == (201, "*")
    body = dict(made.json or {})
    assert allowed(registrar.manage(body)) == "*"
    assert allowed(registrar.manage(body, "PUT", {**body, "client_name": "Other"})) == "*"
    refused = registrar.manage(body, "DELETE", token="wrong")
    assert (refused.status_code, allowed(refused)) == (401, "*")
    assert "WWW-Authenticate" in refused.headers["Access-Control-Expose-Headers"]
    assert allowed(registrar.register({"redirect_uris": ["javascript:x"]})) == "*"
    path = urlsplit(body["registration_client_uri"]).path
    for method in ("GET", "PUT", "DELETE"):
        requested = preflight(world, path, EVIL, method, "authorization,content-type")
        assert (requested.status_code, allowed(requested)) == (204, "*")
        assert method in requested.headers["Access-Control-Allow-Methods"].split(", ")
        assert requested.headers["Access-Control-Allow-Headers"] == "authorization, content-type"


def test_refusal_of_registration_is_for_any_page(world: World) -> None:
    answer = Registrar(world).register()
    assert (answer.status_code, allowed(answer)) == (403, "*")


@pytest.mark.both_databases
def test_preflight_is_for_origins_of_clients(
    world: World, spa: RelyingParty, foreign_shop: RelyingParty, subtests: pytest.Subtests
) -> None:
    world.application(
        "gone", redirect_uris=["https://gone.example/cb"], cors_origins=["https://gone.example"], is_active=False
    )
    for path in OF_CLIENTS:
        for origin in (PAGE, OTHER):
            with subtests.test(f"{path} {origin}"):
                requested = preflight(spa, path, origin, headers="authorization,content-type")
                assert (requested.status_code, allowed(requested), requested.headers["Vary"]) == (204, origin, "Origin")
                assert "POST" in requested.headers["Access-Control-Allow-Methods"]
        for origin in (*OTHER_ORIGINS, "https://gone.example"):
            with subtests.test(f"{path} {origin}"):
                assert allowed(preflight(spa, path, origin)) is None
        with subtests.test(f"{path} at another tenant"):
            assert allowed(preflight(foreign_shop, path, PAGE)) is None


def test_preflight_names_the_headers_that_are_allowed(spa: RelyingParty) -> None:
    common = "authorization,content-type,dpop,mcp-protocol-version,traceparent,x-requested-with"
    for path in ("/api/oidc/token", "/.well-known/oauth-authorization-server"):
        requested = preflight(spa, path, PAGE, headers=common).headers["Access-Control-Allow-Headers"]
        assert sorted(requested.split(", ")) == sorted(common.split(","))
        mixed = preflight(spa, path, PAGE, headers="Content-Type, X-Api-Key,cookie,apikey,*")
        assert mixed.headers["Access-Control-Allow-Headers"] == "Content-Type"


def test_token_is_for_the_origins_of_its_client(
    world: World, spa: RelyingParty, browser: Browser, ada: Person, subtests: pytest.Subtests
) -> None:
    web = world.application("web", redirect_uris=["https://web.example/cb"])
    for origin, expected in (
        (PAGE, PAGE),
        (OTHER, OTHER),
        ("https://web.example", None),
        *((item, None) for item in OTHER_ORIGINS),
    ):
        with subtests.test(origin):
            answer = spa.back("token", token_request(spa, browser, ada), headers={"Origin": origin})
            assert (answer.status_code, allowed(answer)) == (200, expected)
            token = (answer.json or {})["access_token"]
            for path in ("/service/oidc/userinfo", "/service/oidc/spa/userinfo"):
                received = spa.get(path, headers={"Origin": origin, "Authorization": f"Bearer {token}"})
                assert (received.status_code, allowed(received)) == (200, expected)
            ended = spa.back("revoke", {"token": token, "client_id": spa.client_id}, headers={"Origin": origin})
            assert (ended.status_code, allowed(ended)) == (200, expected)
    pushed = {
        "client_id": web.client_id,
        "client_secret": web.secret,
        "response_type": "code",
        "redirect_uri": "https://web.example/cb",
        "scope": "openid",
    }
    for origin, expected in (("https://web.example", "https://web.example"), (PAGE, None)):
        assert allowed(web.back("par", pushed, headers={"Origin": origin})) == expected


def test_refusals_are_for_origins_of_clients(world: World, spa: RelyingParty, subtests: pytest.Subtests) -> None:
    requests: dict[str, tuple[str, dict[str, Any], int]] = {
        "grant": ("token", {"grant_type": "authorization_code", "client_id": spa.client_id, "code": "x"}, 400),
        "client": ("token", {"grant_type": "authorization_code", "client_id": "absent", "code": "x"}, 401),
        "type": ("token", {"grant_type": "x", "client_id": spa.client_id}, 400),
        "revocation": ("revoke", {"token": "x", "client_id": "absent"}, 401),
        "pushed": ("par", {"client_id": spa.client_id}, 400),
        "device": ("device", {"client_id": spa.client_id}, 400),
    }
    for name, (path, form, status) in requests.items():
        for origin, expected in ((PAGE, PAGE), (OTHER, OTHER), (EVIL, None)):
            with subtests.test(f"{name} {origin}"):
                answer = spa.back(path, form, headers={"Origin": origin})
                assert (answer.status_code, allowed(answer)) == (status, expected)
    received = spa.get("/service/oidc/userinfo", headers={"Origin": PAGE, "Authorization": "Bearer x"})
    assert (received.status_code, allowed(received)) == (401, PAGE)
    assert received.headers["WWW-Authenticate"]
    assert "WWW-Authenticate" in received.headers["Access-Control-Expose-Headers"]
    wrong = spa.get("/api/oidc/token", headers={"Origin": PAGE})
    assert (wrong.status_code, allowed(wrong)) == (405, PAGE)


@pytest.mark.both_databases
def test_registered_client_opens_only_its_own_responses(registrar: Registrar, subtests: pytest.Subtests) -> None:
    """Anyone can register an application: its origin reads nothing that another client gets."""
    world = registrar.world
    shop, browser = world.application("shop", secret=None, redirect_uris=[f"{PAGE}/cb"]), world.browser()
    ada = world.person("ada@example.test")
    made = registrar.registered(redirect_uris=[f"{EVIL}/cb"], token_endpoint_auth_method="none")
    parameters = {"grant_type": "authorization_code", "client_id": made["client_id"], "code": "x"}
    own = shop.back("token", parameters, headers={"Origin": EVIL})
    assert (own.status_code, allowed(own)) == (400, EVIL)
    assert allowed(shop.back("token", parameters, headers={"Origin": PAGE})) is None
    answer = shop.back("token", token_request(shop, browser, ada), headers={"Origin": EVIL})
    assert (answer.status_code, allowed(answer)) == (200, None)
    token = (answer.json or {})["access_token"]
    received = shop.get("/service/oidc/userinfo", headers={"Origin": EVIL, "Authorization": f"Bearer {token}"})
    assert (received.status_code, allowed(received)) == (200, None)
    assert allowed(shop.back("revoke", {"token": token, "client_id": shop.client_id}, headers={"Origin": EVIL})) is None
    for origin in ("https://anyone.example", INSPECTOR, "capacitor://localhost"):
        with subtests.test(origin):  # a preflight names no client, and any origin may be that of one
            assert allowed(preflight(shop, "/api/oidc/token", origin)) == origin
            assert allowed(shop.back("token", parameters, headers={"Origin": origin})) is None
    assert allowed(preflight(shop, "/api/oidc/token", "null")) is None


def test_loopback_origin_has_the_registered_port(registrar: Registrar, subtests: pytest.Subtests) -> None:
    """The exception for ports is for redirects: it opens no responses to every page of the device."""
    made = registrar.registered(redirect_uris=[f"{INSPECTOR}/oauth/callback"], token_endpoint_auth_method="none")
    bare = registrar.registered(
        redirect_uris=["http://127.0.0.1/cb", "com.example.app:/cb"],
        application_type="native",
        token_endpoint_auth_method="none",
    )
    at = registrar.world.application("any")
    for client, origin, expected in (
        (made, INSPECTOR, INSPECTOR), (made, "http://localhost:6275", None), (made, "http://127.0.0.1:6274", None),
        (bare, "http://127.0.0.1", "http://127.0.0.1"), (bare, "http://127.0.0.1:6274", None), (bare, "com.example.app:", None),
    ):  # fmt: skip
        with subtests.test(f"{client['redirect_uris'][0]} {origin}"):
            parameters = {"grant_type": "authorization_code", "client_id": client["client_id"], "code": "x"}
            assert allowed(at.back("token", parameters, headers={"Origin": origin})) == expected


def test_origin_is_compared_as_browsers_write_it(world: World, subtests: pytest.Subtests) -> None:
    """The kinds of origins that the settings take, each as a browser sends it."""
    extension = "chrome-extension://" + "abcdefgh" * 4
    registered = [
        "https://App.example:443",
        "http://app.example:80",
        "https://[::1]:8443",
        "https://Bücher.example",
        "capacitor://localhost",
    ]
    registered += ["ionic://localhost", "tauri://localhost", extension]
    client = world.application(
        "many",
        secret=None,
        redirect_uris=["https://Münchner.example:443/cb", "com.example:/cb"],
        cors_origins=registered,
    )
    sent = [
        "https://app.example", "http://app.example", "https://[::1]:8443", "https://xn--bcher-kva.example",
        "https://xn--mnchner-n2a.example",
        "capacitor://localhost", "ionic://localhost", "tauri://localhost", extension,
    ]  # fmt: skip
    parameters = {"grant_type": "authorization_code", "client_id": client.client_id, "code": "x"}
    for origin in sent:
        with subtests.test(origin):
            assert allowed(client.back("token", parameters, headers={"Origin": origin})) == origin
            assert allowed(preflight(client, "/api/oidc/token", origin)) == origin
    for origin in (
        "https://App.example:443", "https://app.example:443", "https://APP.example", "https://bücher.example".encode().decode("latin-1"),
        "https://app.example/", "capacitor://other", "capacitor://localhost/", "com.example:", "chrome-extension://" + "b" * 32, "null",
    ):  # fmt: skip
        with subtests.test(origin):
            assert allowed(client.back("token", parameters, headers={"Origin": origin})) is None
    twice = [("Origin", "https://app.example"), ("Origin", "null")]
    assert allowed(client.back("token", parameters, headers=twice)) is None


def test_first_request_of_a_process_may_be_a_preflight(
    services: IdentityServices, world: World, spa: RelyingParty
) -> None:
    fresh = Client(create_app(create_service(services, defers_imports=True)))
    sent = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    assert allowed(fresh.options("/api/oidc/token", headers=sent, base_url=spa.hub_url)) == PAGE
    assert allowed(fresh.options("/service/oidc/jwks", headers=sent, base_url=spa.hub_url)) == "*"


def test_introspection_has_no_cors_headers(world: World, spa: RelyingParty) -> None:
    answer = spa.back("introspect", {"token": "x", "client_id": spa.client_id}, headers={"Origin": PAGE})
    assert allowed(answer) is None
    assert allowed(preflight(spa, "/api/oidc/introspect", PAGE)) is None
