"""The hub renders the hosted pages. It owns no data and no policy: it asks the identity service."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx  # noqa: TID251 - for its types alone

    from app.hub.web.application import HubFlask
    from app.kit.clock import Clock
    from app.kit.operations.server import OperationServer
    from app.settings import Settings


def create_app(
    settings: Settings,
    transport: httpx.BaseTransport | None = None,
    clock: Clock | None = None,
    server: OperationServer | None = None,
    *,
    watches_tenants: bool = False,
) -> HubFlask:
    """Return the WSGI application of the hub.

    Args:
        transport: transport to the identity service; None for `settings.api_url`.
        clock: the system clock by default.
        server: the identity service in this process; it is called without HTTP.
        watches_tenants: whether a thread polls the identity service for changed tenants; True in a serving process.
    """
    from app.hub.assembly import make_app
    from app.hub.web.services import make_services

    return make_app(make_services(settings, transport, clock, server, watches_tenants=watches_tenants))


__all__ = ["create_app"]
