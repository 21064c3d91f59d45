"""Routes the demo's hosts: the shop, the inbox, and Gatehouse for all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.middleware.http_proxy import ProxyMiddleware

from app.settings import Settings

Links = tuple[tuple[str, str], ...]
"""The words and the address of each link."""


class Hosts:
    """Routes some hosts to other applications, and all others to Gatehouse."""

    def __init__(self, app: WSGIApplication, others: Mapping[str, WSGIApplication]) -> None:
        self._app = app
        self._others = {host.lower(): app for host, app in others.items()}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        app = self._others.get(environ.get("HTTP_HOST", "").lower(), self._app)
        return app(environ, start_response)


def shop_at(port: int) -> WSGIApplication:
    """Return a proxy to the shop's process that keeps the Host header."""
    proxy = ProxyMiddleware(_unused, {})
    target: dict[str, Any] = {
        "target": f"http://127.0.0.1:{port}/",
        "host": None,
        "remove_prefix": False,
        "headers": {},
        "ssl_context": None,
    }

    def shop(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return proxy.proxy_to(target, environ["PATH_INFO"], "/")(environ, start_response)

    return shop


def names(settings: Settings) -> dict[str, str]:
    """Return the hosts of shop and inbox by name."""
    return {name: f"{name}.{settings.hub_domain}" for name in ("shop", "inbox")}


def around(settings: Settings) -> Links:
    """Return the navigation of the demo's pages."""
    return (
        ("Start", f"{settings.public_scheme}://{settings.hub_domain}"),
        ("Gallery", f"{settings.hub_url('acme')}/_gallery"),
        ("Inbox", settings.hub_url("inbox")),
        ("API", f"{settings.base_url}/docs"),
    )


def acts(settings: Settings) -> Links:
    """Return what sends a message in the demo."""
    return (
        ("Create an account", f"{settings.hub_url('shop')}/sign-in/acme?prompt=create"),
        ("Reset a password", f"{settings.hub_url('acme')}/forgot-password"),
    )


def _unused(_environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response("404 Not Found", [])
    return []
