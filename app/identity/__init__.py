"""The identity service: the JSON interface, OAuth and OpenID Connect back channels; owns all data and all policy."""

from wsgiref.types import WSGIApplication

from app.identity.areas import AREAS
from app.identity.house import House
from app.identity.server import make_server
from app.kit.clock import Clock, SystemClock
from app.kit.server import Server
from app.settings import Settings


def create_house(settings: Settings, clock: Clock | None = None) -> House:
    """Return the services that all operations of this process share."""
    return House(settings, clock or SystemClock())


def create_service(house: House) -> Server:
    """Return the server with every operation implemented; raises where one was forgotten."""
    server = make_server(house)
    for area in AREAS:
        area.register(server)
    if missing := server.missing():
        raise RuntimeError(f"operations without a handler: {', '.join(missing)}")
    return server


def create_app(server: Server) -> WSGIApplication:
    """Return the WSGI application of the identity service."""
    return server


__all__ = ["Settings", "create_app", "create_house", "create_service"]
