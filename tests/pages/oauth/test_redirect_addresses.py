"""Redirect URIs with ports that do not exist, and with hosts beyond ASCII, in a browser."""

from __future__ import annotations

import pytest

from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

PASSWORD = "correct horse 7"
IDN = "https://bücher.example/cb"
SENT = "https://xn--bcher-kva.example"


def policy_of(page: VisitedPage) -> str:
    assert page.answer is not None
    return str(page.answer.headers["Content-Security-Policy"])


def test_port_that_does_not_exist_is_refused_at_once(world: World, visitor: Visitor, subtests: pytest.Subtests) -> None:
    registered = ["http://127.0.0.1/cb", "http://[::1]/cb"]
    app = world.application("terminal", secret=None, application_type="native", redirect_uris=registered)
    for uri in ("http://127.0.0.1:99999/cb", "http://127.0.0.1:0/cb", "http://[::1]:65536/cb"):
        with subtests.test(uri):
            page = visitor.authorize(app, redirect_uri=uri)
            assert page.status == 400
            assert uri not in page.address


def test_sign_in_returns_to_a_host_beyond_ascii(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop", redirect_uris=[IDN]), world.person("ada@example.com")
    page = visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.address.startswith(f"{SENT}/cb?")
    assert page.query["code"]


def test_form_post_may_reach_a_host_beyond_ascii(world: World, visitor: Visitor) -> None:
    """Browsers compare `form-action` with the host in punycode."""
    shop, ada = world.application("shop", redirect_uris=[IDN]), world.person("ada@example.com")
    page = visitor.authorize(shop, response_mode="form_post").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert f" {SENT} " in policy_of(page)


def test_sign_out_may_reach_a_host_beyond_ascii(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", redirect_uris=[IDN], post_logout_redirect_uris=["https://bücher.example/bye"])
    ada = world.person("ada@example.com")
    visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)
    page = visitor.open(f"/logout?client_id={shop.client_id}&post_logout_redirect_uri=https://bücher.example/bye")
    assert f"form-action 'self' {SENT};" in policy_of(page)
