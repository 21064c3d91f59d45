"""Connections of both kinds at npm oidc-provider: a tenant's own OpenID provider, and an organization's connection."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from threading import Thread
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from flask import Flask
from werkzeug.serving import make_server

from app.identity.platform.services import IdentityServices
from tests.conformance.oidc_provider.connected import NewUpstreamConnection, UpstreamConnection
from tests.conformance.oidc_provider.node_provider import NodeProvider, node_provider
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import NewWorld
from tests.support.organizations.connected_organization import ConnectedOrganization, business_of
from tests.support.tenants.configuration_files import applied
from tests.support.visitors.visitor import NewVisitorAt

KINDS = ("custom provider", "organization connection")
SCOPE = "openid email profile"


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProvider]:
    """The provider of the run's tests, which have a client of their own each."""
    with node_provider(tmp_path_factory.mktemp("oidc-provider")) as running:
        yield running


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new_connection(
    kind: str,
    upstream: NodeProvider,
    new_world: NewWorld,
    identity_app: Flask,
    new_visitor_at: NewVisitorAt,
    fake_provider: FakeProvider,  # clears the cache of the provider's keys, too
) -> NewUpstreamConnection:
    """Make a tenant with a connection of the kind, whose client has this metadata at the provider."""

    def make(secret: str = "", redirect_uri: str = "", **metadata: Any) -> UpstreamConnection:
        world = new_world()
        home = new_visitor_at(world).home
        if kind == KINDS[0]:
            callback = f"{home}/socialauth/validate.sauth"
            client_id, issued = upstream.register(redirect_uri or callback, **metadata)
            settings = {
                "title": "Partner",
                "key": client_id,
                "secret": secret or issued,
                "issuer": upstream.url,
                "trusts_email": True,
            }
            applied(
                world.services, f"tenants: [{{name: {world.name}, connections: {{partner: {json.dumps(settings)}}}}}]"
            )
            world.services.directory.clear_cache()
            return UpstreamConnection(world, new_visitor_at, upstream, "partner", "Partner", callback)
        organization = ConnectedOrganization(
            world, business_of(world, identity_app), new_visitor_at, fake_provider, Issuer=upstream.url
        )
        callback = f"{home}/{organization.path}/callback"
        client_id, issued = upstream.register(redirect_uri or callback, **metadata)
        organization.change(ClientId=client_id, ClientSecret=secret or issued)
        return UpstreamConnection(
            world, new_visitor_at, upstream, organization.id, "Globex Gardens", callback, organization
        )

    return make


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
