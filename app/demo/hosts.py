"""Which host gets which application: the shop and the inbox beside the house."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.middleware.http_proxy import ProxyMiddleware

from app.settings import Settings


class Hosts:
    """Serves some hosts by applications of their own, and everything else by the house."""

    def __init__(self, services: WSGIApplication, others: Mapping[str, WSGIApplication]) -> None:
        self._house = services
        self._others = {host.lower(): app for host, app in others.items()}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        app = self._others.get(environ.get("HTTP_HOST", "").lower(), self._house)
        return app(environ, start_response)


def shop_at(port: int) -> WSGIApplication:
    """Return what hands a request on to the shop's process, its Host header included."""
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
    """Return the demo's hosts by what they are."""
    return {name: f"{name}.{settings.hub_domain}" for name in ("shop", "inbox")}


def _unused(_environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response("404 Not Found", [])
    return []
