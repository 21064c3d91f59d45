"""The hub renders the hosted pages. It owns no data and no policy: it asks the identity service."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx  # noqa: TID251 - for its types alone
    from flask import Flask

    from app.hub.front import Front
    from app.kit.clock import Clock
    from app.kit.server import Server
    from app.settings import Settings


def create_app(
    settings: Settings,
    transport: httpx.BaseTransport | None = None,
    clock: Clock | None = None,
    server: Server | None = None,
) -> Flask:
    """Return the WSGI application of the hub.

    Args:
        transport: transport to the identity service; None for `settings.api_url`.
        clock: the system clock by default.
        server: the identity service in this process; calls are handed to it, without HTTP.
    """
    from app.hub.services import make_services
    from app.hub.whole import make_app

    return make_app(make_services(settings, transport, clock, server))


def create_front(settings: Settings, clock: Clock | None = None, server: Server | None = None) -> Front:
    """Return the hub of a process, which loads most of its pages after the first one."""
    from app.hub.front import Front
    from app.hub.services import make_services

    return Front(make_services(settings, None, clock, server))


__all__ = ["create_app", "create_front"]
