"""The identity service: the JSON interface, OAuth and OpenID Connect back channels; owns all data and all policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

    from app.identity.platform.services import IdentityServices
    from app.kit.clock import Clock
    from app.kit.operations.server import OperationServer
    from app.settings import Settings


def create_services(
    settings: Settings, clock: Clock | None = None, *, defers_imports: bool = False
) -> IdentityServices:
    """Return the services that all operations of this process share; the tables are loaded now, or by the server."""
    from app.identity.assembly.services import assemble

    return assemble(settings, clock, defers_imports=defers_imports)


def create_service(services: IdentityServices, *, defers_imports: bool = False) -> OperationServer:
    """Return the server of all operations, whose handlers are loaded now or, at the latest, when the first operation is called."""
    from app.identity.assembly.server import make_server

    server = make_server(services)
    if not defers_imports:
        server.load()
    return server


def create_app(server: OperationServer) -> WSGIApplication:
    """Return the WSGI application of the identity service."""
    return server


__all__ = ["create_app", "create_service", "create_services"]
