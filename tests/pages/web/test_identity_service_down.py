"""The identity service does not answer: the hub shows an error page and recovers without a restart."""

import logging
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import httpx
import pytest
from flask import Flask

from app.hub import create_app
from app.hub.tenants import tenant_cache
from app.kit.observability import throttled_log
from app.kit.operations.request_parsing import INSIDE
from tests.support.oauth.world import World
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Visitor

pytestmark = pytest.mark.both_databases


class CuttableTransport(httpx.BaseTransport):
    """A transport to the identity service that can be disconnected."""

    def __init__(self, app: Flask) -> None:
        def within(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            return app(environ | {INSIDE: True}, start_response)  # as in one process: the service is on no host here

        self.inner = httpx.WSGITransport(app=within)
        self.is_disconnected = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_disconnected:
            raise httpx.ConnectError("disconnected")
        return self.inner.handle_request(request)


@pytest.fixture
def transport(identity_app: Flask) -> CuttableTransport:
    return CuttableTransport(identity_app)


@pytest.fixture
def visitor(world: World, transport: CuttableTransport) -> Visitor:
    made = create_app(world.services.settings, transport, world.services.clock)
    return Visitor(PlainClient(made), world.services.settings.hub_url(world.name))


def test_first_request_gets_503_page_and_retry_recovers(visitor: Visitor, transport: CuttableTransport) -> None:
    transport.is_disconnected = True
    page = visitor.open("/login?attempt=x&lang=de")
    assert page.status == 503
    assert page.answer
    assert page.answer.headers["Retry-After"] == "5"
    assert page.heading == "Wir sind gleich wieder da"
    transport.is_disconnected = False
    assert page.follow("Noch einmal versuchen").status == 410


def test_failed_form_post_links_back_to_its_page(
    visitor: Visitor, transport: CuttableTransport, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttled_log, "EVERY_SECONDS", 0.0)  # another test may have logged such a line recently
    page = visitor.open("/login")
    transport.is_disconnected = True
    with caplog.at_level(logging.ERROR):
        refused = page.press("Sign in", identifier="ada@example.com", password="correct horse 7")
    assert refused.status == 503
    reference = refused.text.partition("mention this ID: ")[2].split()[0]
    assert reference in {record.__dict__.get("reference") for record in caplog.records}
    assert "correct horse" not in caplog.text
    transport.is_disconnected = False
    assert refused.follow("Try again").is_sign_in


def test_pages_use_the_cached_tenant(
    visitor: Visitor, transport: CuttableTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenant_cache, "MAX_AGE_SECONDS", 0.0)
    assert visitor.open("/login").status == 200
    transport.is_disconnected = True
    assert visitor.open("/login").status == 200
