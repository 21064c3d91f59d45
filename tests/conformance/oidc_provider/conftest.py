"""Connections at npm oidc-provider: a tenant's own OpenID or OAuth provider, and an organization's connection."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Thread
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from flask import Flask
from werkzeug.serving import make_server

from app.identity.platform.services import IdentityServices
from tests.conformance.oidc_provider.connected import (
    CUSTOM_OPENID,
    OPENID,
    ORGANIZATION,
    NewUpstreamConnection,
    UpstreamConnection,
)
from tests.conformance.oidc_provider.node_provider import NodeProvider, node_provider
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.connected_organization import ConnectedOrganization, business_of
from tests.support.tenants.configuration_files import applied
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitorAt


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProvider]:
    """The provider of the run's tests, which have a client of their own each."""
    with node_provider(tmp_path_factory.mktemp("oidc-provider")) as running:
        yield running


@pytest.fixture(params=OPENID)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@dataclass(frozen=True)
class ConnectionMaker:
    """Makes a tenant with a connection of a kind, whose client has this metadata at the provider."""

    kind: str
    provider: NodeProvider
    new_world: NewWorld
    app: Flask
    new_visitor_at: NewVisitorAt
    fake_provider: FakeProvider

    def __call__(self, secret: str = "", redirect_uri: str = "", **metadata: Any) -> UpstreamConnection:
        world = self.new_world()
        if self.kind == ORGANIZATION:
            return self._of_organization(world, secret, redirect_uri, metadata)
        callback = f"{self.new_visitor_at(world).home}/socialauth/validate.sauth"
        client_id, issued = self.provider.register(redirect_uri or callback, **metadata)
        if self.kind == CUSTOM_OPENID:
            self._by_file(world, client_id, secret or issued)
        else:
            self._by_operation(world, client_id, secret or issued)
        world.services.directory.clear_cache()
        return UpstreamConnection(world, self.new_visitor_at, self.provider, "partner", "Partner", callback)

    def _by_file(self, world: World, client_id: str, secret: str) -> None:
        """Set up the provider by its issuer, from which the rest is discovered."""
        settings = {
            "title": "Partner",
            "key": client_id,
            "secret": secret,
            "issuer": self.provider.url,
            "trusts_email": True,
        }
        tenants = [{"name": world.name, "connections": {"partner": settings}}]
        applied(world.services, json.dumps({"tenants": tenants}))

    def _by_operation(self, world: World, client_id: str, secret: str) -> None:
        """Set up the provider by its endpoints, as one of OAuth 2.0."""
        url, tenant = self.provider.url, business_of(world, self.app).tenant
        names = {"ID": "sub", "Email": "email", "FirstName": "given_name", "LastName": "family_name"}
        body = {
            "ProviderName": "partner", "FriendlyProviderName": "Partner", "UserLoginEndpoint": f"{url}/auth",
            "AccessTokenEndpoint": f"{url}/token", "UserprofileEndpoint": f"{url}/me", "ApplicationKey": client_id,
            "ApplicationSecret": secret, "Scope": "openid email profile", "DataMap": names,
        }  # fmt: skip
        answered(ask(tenant, machine(tenant, "all"), "POST", "/v2/manage/custom-providers/oauth", body))

    def _of_organization(
        self, world: World, secret: str, redirect_uri: str, metadata: dict[str, Any]
    ) -> UpstreamConnection:
        organization = ConnectedOrganization(
            world, business_of(world, self.app), self.new_visitor_at, self.fake_provider, Issuer=self.provider.url
        )
        callback = f"{self.new_visitor_at(world).home}/{organization.path}/callback"
        client_id, issued = self.provider.register(redirect_uri or callback, **metadata)
        organization.change(ClientId=client_id, ClientSecret=secret or issued)
        return UpstreamConnection(
            world, self.new_visitor_at, self.provider, organization.id, "Globex Gardens", callback, organization
        )


@pytest.fixture
def new_connection(
    kind: str,
    upstream: NodeProvider,
    new_world: NewWorld,
    identity_app: Flask,
    new_visitor_at: NewVisitorAt,
    fake_provider: FakeProvider,  # clears the cache of the provider's keys, too
) -> NewUpstreamConnection:
    return ConnectionMaker(kind, upstream, new_world, identity_app, new_visitor_at, fake_provider)


@pytest.fixture
def back_channel(services: IdentityServices, identity_app: Flask) -> Iterator[int]:
    """Serve the tenants' hosts to the provider, and return the port."""

    def at_configured_port(environ: WSGIEnvironment, start_response: StartResponse) -> Any:
        name = environ["HTTP_HOST"].partition(".")[0]
        environ["HTTP_HOST"] = services.settings.hub_url(name).partition("://")[2]
        return identity_app(environ, start_response)

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, at_configured_port, threaded=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
