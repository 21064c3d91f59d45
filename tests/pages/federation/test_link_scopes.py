"""Links of programs to a provider (RequestHandler.aspx) request further scopes there, and keep those that the sign-in needs."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from werkzeug.test import Client as WsgiClient

from tests.support.credentials.devices import store_service_secrets
from tests.support.fakes.identity_provider import SECRET, FakeProvider
from tests.support.journeys.federated_sign_in import FederatedPageUser
from tests.support.oauth.world import World
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

CALLBACK = "https://shop.example/back"
CONFIGURED = "openid email read:user"


@pytest.fixture
def server(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> TenantServer:
    connections = {
        "globex": fake_provider.openid(title="Globex", trusts_email=True, scope=CONFIGURED),
        "initech": fake_provider.openid(title="Initech", trusts_email=True),
        "hooli": fake_provider.oauth2(title="Hooli", scope=""),
    }
    made = new_tenant_server(connections=connections, url_whitelist=[CALLBACK])
    store_service_secrets(made, connections=dict.fromkeys(connections, SECRET))
    return made


@pytest.fixture
def user(
    server: TenantServer, identity_app: Any, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> FederatedPageUser:
    tenant = World(server.services, WsgiClient(identity_app), server.tenant_id, server.name, server.api_key)
    return FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)


def link(**parameters: str) -> str:
    return f"/RequestHandler.aspx?{urlencode({'provider': 'globex', 'callback': CALLBACK, 'callbacktype': 'hash', **parameters})}"


def requested(page: VisitedPage) -> str | None:
    """Return the scopes of the authorization request."""
    return parse_qs(urlsplit(page.address).query).get("scope", [None])[0]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, CONFIGURED),
        ({"scope": "calendar.read files"}, f"{CONFIGURED} calendar.read files"),
        ({"scope": " calendar.read   files "}, f"{CONFIGURED} calendar.read files"),
        ({"Scope": "https://graph.example/Mail.Read"}, f"{CONFIGURED} https://graph.example/Mail.Read"),
        ({"scope": "email"}, CONFIGURED),
        ({"scope": "files files email files"}, f"{CONFIGURED} files"),
        ({"provider": "initech", "scope": "files"}, "openid profile email files"),
        ({"provider": "hooli", "scope": "files"}, None),
    ],
)
def test_scopes_of_the_link_join_those_of_the_connection(
    user: FederatedPageUser, parameters: dict[str, str], expected: str | None
) -> None:
    assert requested(user.visitor.open(link(**parameters))) == expected


def test_sign_in_with_further_scopes_reaches_the_program(user: FederatedPageUser) -> None:
    assert user.sign_in(start=link(scope="files")).address.startswith(f"{CALLBACK}#lr-token=")


@pytest.mark.parametrize(
    "scope", ['a"b', "a\\b", "a\nb", "a\tb", "\x00", "é", "a&state=x\x7f", "x" * 501, " ".join(["y"] * 251)], ids=ascii
)
def test_malformed_scope_is_refused(user: FederatedPageUser, scope: str) -> None:
    page = user.visitor.open(link(scope=scope))
    assert (page.status, page.heading) == (403, "Sign-in method unavailable")
    assert page.address.startswith(user.visitor.home)


def test_scope_with_a_parameter_in_it_is_one_scope(user: FederatedPageUser) -> None:
    query = parse_qs(urlsplit(user.visitor.open(link(scope="a&state=x&client_id=evil")).address).query)
    assert query["scope"] == [f"{CONFIGURED} a&state=x&client_id=evil"]
    assert (len(query["state"]), query["client_id"] == ["evil"]) == (1, False)


def test_second_try_requests_them_and_another_provider_does_not(user: FederatedPageUser) -> None:
    page = user.visitor.open(user.denied(user.visitor.open(link(scope="files"))))
    assert requested(page.follow("Continue with Globex")) == f"{CONFIGURED} files"
    page = user.visitor.open(user.denied(user.visitor.open(link(scope="files"))))
    assert requested(page.follow("Continue with Initech")) == "openid profile email"


@pytest.mark.parametrize("same_window", ["true", "false", "1", "x"])
def test_sign_in_goes_on_in_the_window_of_the_link(user: FederatedPageUser, same_window: str) -> None:
    page = user.sign_in(start=link(same_window=same_window))
    assert page.address.startswith(f"{CALLBACK}#lr-token=")
