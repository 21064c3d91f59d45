"""Gatehouse: the hub and the identity service. The only file that knows both wings."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import httpx  # noqa: TID251 - hands the wing over in place of a connection

from app import hub, identity
from app.identity.callers import host_of
from app.kit.operation import Host
from app.kit.proxies import hostname_of, protect
from app.kit.server import Server
from app.settings import Settings


def create_hub(settings: Settings) -> WSGIApplication:
    """Return the hub alone; it finds the identity service at `settings.api_url`."""
    return _protected(hub.create_app(settings), settings)


def create_identity(settings: Settings) -> WSGIApplication:
    """Return the identity service alone."""
    return _protected(identity.create_app(identity.create_service(identity.create_house(settings))), settings)


def create_both(settings: Settings) -> WSGIApplication:
    """Return both wings in one process; the hub reaches the identity service without a socket."""
    house = identity.create_house(settings)
    server = identity.create_service(house)
    service = identity.create_app(server)
    pages = hub.create_app(settings, httpx.WSGITransport(app=service, raise_app_exceptions=False), house.clock)
    return _protected(Dispatcher(settings, server, service, pages), settings)


class Dispatcher:
    """Where a browser navigates the hub answers, where a program calls the identity service: the catalogue says which."""

    def __init__(self, settings: Settings, server: Server, service: WSGIApplication, pages: WSGIApplication) -> None:
        self._settings = settings
        self._server = server
        self._service = service
        self._pages = pages

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host = host_of(self._settings, environ.get("HTTP_HOST", ""))
        if host is Host.INSIDE:  # the hub of this process calls it without a network: nobody else is answered there
            host = Host.TENANT
        if host is Host.API or self._server.owns(host, environ["PATH_INFO"]):
            return self._service(environ, start_response)
        return self._pages(environ, start_response)


def _protected(app: WSGIApplication, settings: Settings) -> WSGIApplication:
    api = hostname_of(settings.api_hostname)
    inside = urlsplit(settings.api_url)
    return protect(
        app,
        scheme="https" if settings.public_scheme == "https" else "http",
        hub_domain=settings.hub_domain,
        trusted_proxies=settings.trusted_proxies,
        is_served=lambda host: hostname_of(host) == api,
        plain_hosts={inside.hostname} if inside.scheme == "http" and inside.hostname else frozenset(),
    )
