"""Applications and tenants whose names read like other parts of the addresses: the protocol is what the address says, not its names."""

from __future__ import annotations

import pytest
from werkzeug.test import TestResponse

from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import on_one_database

pytestmark = on_one_database
NAMES = ["oauth", "OAuth", "oidc", "service", "api", "sso", "v2", "code"]


def machine(world: World, name: str, protocol: str = "openid") -> RelyingParty:
    return world.application(
        name, protocol=protocol, grant_types=["client_credentials"], redirect_uris=[], scope="read"
    )


def token(app: RelyingParty, path: str, **how: str) -> TestResponse:
    form = {"grant_type": "client_credentials", **app.client_credentials()}
    query = {"apikey": app.api_key}
    return app.wsgi.post(path, data=form, query_string=query, base_url=how.get("base_url", app.hub_url))


@pytest.mark.parametrize("protocol", ["openid", "oauth"])
@pytest.mark.parametrize("name", NAMES)
def test_application_of_any_name_is_served_at_its_protocol(world: World, name: str, protocol: str) -> None:
    app = machine(world, name, protocol)
    own, other = ("oidc", "oauth") if protocol == "openid" else ("oauth", "oidc")
    for spelled in (name, name.upper(), f"%{ord(name[0]):02x}{name[1:]}"):
        assert token(app, f"/api/{own}/{spelled}/token").status_code == 200, spelled
        refused = token(app, f"/api/{other}/{spelled}/token")
        assert (refused.status_code, (refused.json or {})["error"]) == (401, "invalid_client"), spelled
        assert app.get(metadata_address(own, spelled)).status_code == 200
        assert app.get(metadata_address(other, spelled)).status_code == 404


def metadata_address(protocol: str, name: str) -> str:
    return f"/.well-known/oauth-authorization-server/service/{protocol}/{name}"


@pytest.mark.parametrize("address", ["/service/oidc/oauth/{}", "/{}/service/oidc/oauth", "/oidc/oauth/{}"])
def test_oauth_application_named_oauth_has_no_openid_metadata(world: World, address: str) -> None:
    legacy = world.application("oauth", protocol="oauth")
    documents = ("openid-configuration", "oauth-authorization-server")
    answers = [legacy.get(address.format(f".well-known/{document}")).status_code for document in documents]
    assert answers == [404, 404]
    assert legacy.get("/service/oidc/oauth/jwks").status_code == 404


def test_application_registers_at_the_address_of_one_named_oauth(world: World) -> None:
    world.change_settings(client_registration={"mode": "open"})
    shop = world.application("oauth")
    body = {"redirect_uris": ["https://new.example/cb"]}
    answer = shop.wsgi.post("/api/oidc/oauth/register", json=body, base_url=shop.hub_url)
    assert answer.status_code == 201, answer.text
    refused = shop.wsgi.post("/api/oauth/oauth/register", json=body, base_url=shop.hub_url)
    assert (refused.status_code, (refused.json or {})["error"]) == (404, "not_found")


def test_tenant_named_oauth_is_served_at_the_older_addresses(new_world: NewWorld) -> None:
    world = new_world(name="oauth")
    app = machine(world, "Shop")
    api = f"http://{world.services.settings.api_hostname}"
    assert token(app, "/sso/oidc/v2/oauth/Shop/token", base_url=api).status_code == 200


def test_application_named_oauth_is_served_at_a_custom_domain(world: World) -> None:
    app = machine(world, "oauth")
    domain = world.services.settings.custom_url(world.add_custom_domain())
    assert token(app, "/api/oidc/oauth/token", base_url=domain).status_code == 200
