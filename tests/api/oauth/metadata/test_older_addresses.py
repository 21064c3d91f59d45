"""The older addresses of OAuth and OpenID Connect on the API host."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from werkzeug.test import TestResponse

from app.contract.applications.file import DEVICE_GRANT
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import on_one_database

pytestmark = on_one_database
Form = dict[str, str | None]


def sent(
    world: World, method: str, path: str, form: Form | None = None, key: str | None = "", **how: Any
) -> TestResponse:
    """Send a request to the API host; `key`: the API key, the tenant's own if it is empty."""
    query = {"apikey": world.api_key if key == "" else key, **how.pop("query", {})}
    return world.wsgi.open(
        path, method=method, base_url=f"http://{world.services.settings.api_hostname}",
        query_string={name: value for name, value in query.items() if value is not None},
        data={name: value for name, value in form.items() if value is not None} if form else None, **how,
    )  # fmt: skip


def v2(world: World, app: RelyingParty) -> str:
    return f"/sso/oidc/v2/{world.name}/{app.name}"


def error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {}).get("error", "tokens")


def code_form(app: RelyingParty, code: str) -> Form:
    return {"code": code, "redirect_uri": app.redirect_uri, **app.client_credentials()}


@pytest.mark.parametrize("path", ["/sso/oauth/redirect", "/sso/oidc/v2/{site}/Shop/authorize"])
def test_browser_is_redirected_to_the_tenants_host(world: World, shop: RelyingParty, path: str) -> None:
    query = {"client_id": shop.client_id, "redirect_uri": "https://shop.example/cb?a=b&c", "state": "a b"}
    if "v2" in path:
        answer = sent(world, "GET", f"/sso/oidc/v2/{world.name}/Shop/authorize", key=None, query=query)
        expected = f"{shop.hub_url}/service/oidc/Shop/authorize"
    else:
        answer = sent(world, "GET", "/sso/oauth/redirect", query=query)
        expected = f"{shop.hub_url}/service/oauth/authorize"
    assert answer.status_code == 302, answer.text
    address, _, rest = answer.headers["Location"].partition("?")
    assert (address, dict(parse_qsl(rest))) == (expected, query), "with the query, without the key"


def test_older_oauth_addresses_exchange_refresh_and_revoke(world: World, ada: Person) -> None:
    shop = world.application("Shop")
    code = world.browser().code(shop, ada, scope="openid email offline_access")
    answer = sent(world, "POST", "/sso/oauth/access_token", code_form(shop, code))
    assert answer.status_code == 200, answer.text
    body = answer.json or {}
    assert (shop.userinfo(body["access_token"]).json or {})["email"] == ada.email
    form: Form = {"refresh_token": body["refresh_token"], **shop.client_credentials()}
    renewed = sent(world, "POST", "/sso/oauth/access_token/refresh", {**form, "grant_type": "password"}).json or {}
    assert renewed["refresh_token"] != body["refresh_token"]
    form["refresh_token"] = renewed["refresh_token"]
    assert sent(world, "POST", "/sso/oauth/refresh_token/revoke", form).status_code == 200
    assert error(sent(world, "POST", "/sso/oauth/access_token/refresh", form)) == (400, "invalid_grant")


def test_older_device_address_starts_a_sign_in(world: World) -> None:
    tv = world.application("Tv", protocol="oauth", grant_types=[DEVICE_GRANT], redirect_uris=[])
    answer = sent(world, "POST", "/sso/oauth/Tv/device", tv.client_credentials())
    assert answer.status_code == 200, answer.text
    assert (answer.json or {})["verification_uri"] == f"{tv.hub_url}/device"


def test_openid_addresses_name_site_and_application(world: World, ada: Person) -> None:
    shop = world.application("Shop").at_own_issuer()
    metadata = sent(world, "GET", f"{v2(world, shop)}/.well-known/openid-configuration", key=None).json or {}
    assert metadata["issuer"] == shop.issuer
    assert (sent(world, "GET", f"{v2(world, shop)}/jwks", key=None).json or {})["keys"]
    code = world.browser().code(shop, ada, scope="openid email offline_access")
    form = {"grant_type": "authorization_code", **code_form(shop, code)}
    answer = sent(world, "POST", f"{v2(world, shop)}/token", form, key=None)
    assert answer.status_code == 200, answer.text
    body = answer.json or {}
    assert claims_in(body["id_token"])["iss"] == shop.issuer
    bearer = {"Authorization": f"Bearer {body['access_token']}"}
    profile = sent(world, "GET", f"{v2(world, shop)}/userinfo", key=None, headers=bearer)
    assert (profile.json or {})["email"] == ada.email
    revoked = {"token": body["refresh_token"], **shop.client_credentials()}
    assert sent(world, "POST", f"{v2(world, shop)}/token/revoke", revoked, key=None).status_code == 200
    assert error(shop.refresh(body["refresh_token"])) == (400, "invalid_grant")


def test_unknown_site_or_application_is_refused(world: World, shop: RelyingParty) -> None:
    for site in ("absent", "api", "x.y", "-", "a" * 80):
        answer = sent(world, "GET", f"/sso/oidc/v2/{site}/Shop/jwks", key=None)
        assert (answer.status_code, (answer.json or {})["ErrorCode"]) == (403, 942), site
    assert error(sent(world, "GET", f"/sso/oidc/v2/{world.name}/Other/jwks", key=None)) == (404, "not_found")
    assert error(sent(world, "GET", f"/sso/oidc/v2/{world.name}/Other/authorize", key=None)) == (404, "not_found")


def test_foreign_tenants_client_and_key_are_refused(
    world: World, shop: RelyingParty, ada: Person, new_world: NewWorld
) -> None:
    other = new_world()
    code = world.browser().code(shop, ada)
    form = {"grant_type": "authorization_code", **code_form(shop, code)}
    assert error(sent(other, "POST", "/sso/oauth/access_token", form)) == (401, "invalid_client")
    assert error(sent(other, "POST", f"/sso/oidc/v2/{other.name}/Shop/token", form, key=None)) == (
        401,
        "invalid_client",
    )
    wrong_key = sent(world, "POST", f"{v2(world, shop)}/token", form, key=other.api_key)
    assert (wrong_key.status_code, (wrong_key.json or {})["ErrorCode"]) == (403, 901)
    assert (sent(world, "POST", "/sso/oauth/access_token", form, key=None).json or {})["ErrorCode"] == 908
    assert error(sent(world, "POST", "/sso/oauth/access_token", {**form, "client_secret": "wrong"}))[0] == 401
    assert sent(world, "POST", "/sso/oauth/access_token", form).status_code == 200, "no refusal spent the code"


def test_location_is_our_own_host_whatever_the_query(world: World) -> None:
    query = {"client_id": "x", "redirect_uri": "//evil.example", "a\r\nSet-Cookie": "b"}
    answer = sent(world, "GET", "/sso/oauth/redirect", query=query)
    if answer.status_code == 302:
        assert urlsplit(answer.headers["Location"]).netloc.startswith(world.name)
        assert "Set-Cookie" not in answer.headers
