"""GET /tls/ask?domain=NAME: whether a proxy may get a certificate for a name (the `ask` address of Caddy's on-demand TLS).

Answered on every host and before the application, because the proxy asks at the address where it forwards requests to.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.identity.platform.services import TenantDirectory
from app.identity.platform.store.database import StoreUnavailable
from app.kit.web.proxies import hostname_of
from app.settings import Settings

PATH: Final = "/tls/ask"
_MAX_QUERY: Final = 400


class OnDemandTls:
    """Answers 200 for the API host, the hosts of tenants and verified custom domains, 404 for any other name."""

    def __init__(self, app: WSGIApplication, settings: Settings, directory: TenantDirectory) -> None:
        self._app = app
        self._settings = settings
        self._directory = directory

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO", "") != PATH:
            return self._app(environ, start_response)
        status = self._status(environ["REQUEST_METHOD"], environ.get("QUERY_STRING", ""))
        start_response(f"{status.value} {status.phrase}", [("Content-Length", "0"), ("Cache-Control", "no-store")])
        return []

    def _status(self, method: str, query: str) -> HTTPStatus:
        if method not in ("GET", "HEAD"):
            return HTTPStatus.METHOD_NOT_ALLOWED
        names = parse_qs(query).get("domain", []) if len(query) <= _MAX_QUERY else []
        if len(names) != 1 or ":" in names[0]:
            return HTTPStatus.BAD_REQUEST
        name = hostname_of(names[0])
        if name == hostname_of(self._settings.api_hostname):
            return HTTPStatus.OK
        _, colon, port = self._settings.hub_domain.partition(":")
        try:
            return HTTPStatus.OK if self._directory.by_host(f"{name}{colon}{port}") else HTTPStatus.NOT_FOUND
        except StoreUnavailable:
            return HTTPStatus.SERVICE_UNAVAILABLE
