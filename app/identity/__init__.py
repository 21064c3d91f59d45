"""The identity service: the JSON interface, OAuth and OpenID Connect back channels; owns all data and all policy."""

from wsgiref.types import WSGIApplication

from app.identity.entry.assembly import assemble
from app.identity.entry.server import make_server
from app.identity.platform.services import Services
from app.kit.clock import Clock
from app.kit.server import Server
from app.settings import Settings


def create_services(settings: Settings, clock: Clock | None = None) -> Services:
    """Return the services that all operations of this process share."""
    return assemble(settings, clock)


def create_service(services: Services) -> Server:
    """Return the server of all operations."""
    return make_server(services)


def create_app(server: Server) -> WSGIApplication:
    """Return the WSGI application of the identity service."""
    return server


__all__ = ["Settings", "create_app", "create_house", "create_service"]
