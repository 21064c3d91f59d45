"""Serve the hub and a relying party's page to a browser. pytest loads this module as a plugin."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask
from werkzeug.serving import make_server
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response

from app.identity.platform.services import IdentityServices
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World

BLOCKS_COOKIES = "x-blocks-cookies"
"""A header of a browser that neither keeps nor sends cookies: Chromium's headless shell has no such setting."""


@pytest.fixture
def served(services: IdentityServices, hub_app: Flask, world: World) -> Iterator[str]:
    """Serve the tenant's pages at a free port, rewriting between it and the hub's configured address."""
    hub_address = services.settings.hub_url(world.name).partition("://")[2]
    logging.getLogger("werkzeug").setLevel(logging.ERROR)

    @Request.application
    def proxy_to_hub(request: Request) -> Any:
        if request.host.startswith("127."):
            return Response("<!doctype html><title>Shop</title><h1>Welcome to the shop</h1>", mimetype="text/html")
        headers = {
            name: value for name, value in request.headers.items() if name.lower() not in ("host", "accept-encoding")
        }
        blocks_cookies = headers.pop(BLOCKS_COOKIES.title(), None) is not None
        if blocks_cookies:
            headers.pop("Cookie", None)
        answer = Client(hub_app, use_cookies=False).open(
            request.full_path,
            method=request.method,
            base_url=f"http://{hub_address}",
            headers=headers,
            data=request.get_data(),
        )
        if blocks_cookies:
            answer.headers.remove("Set-Cookie")
        here, there = f"http://{hub_address}", f"http://{request.host}"
        if "Location" in answer.headers:
            answer.headers["Location"] = answer.headers["Location"].replace(here, there)
        return answer

    server = make_server("127.0.0.1", 0, proxy_to_hub, threaded=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://{world.name}.localhost:{server.server_port}"
    server.shutdown()
    thread.join()


def the_shop(world: World, served: str, **settings: Any) -> RelyingParty:
    """Register a shop at an origin of its own."""
    address = f"http://127.0.0.1:{served.rpartition(':')[2]}/cb"
    return world.application("shop", client_name="Acme Shop", redirect_uris=(address,), **settings)


def sign_in_address(served: str, shop: RelyingParty, **changed: str) -> str:
    headers = {name: value for name, value in shop.authorization_parameters(**changed).items() if value is not None}
    return f"{served}/service/oidc/authorize?{urlencode(headers)}"
