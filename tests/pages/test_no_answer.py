"""When nobody answers at the door: a calm page, and recovery without a restart."""

import logging
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import httpx
import pytest
from flask import Flask
from werkzeug.test import Client

from app.hub import create_app, tenancy
from app.kit import throttled_log
from app.kit.reading import INSIDE
from tests.support.oauth_world import World
from tests.support.visitor import Visitor


class Line(httpx.BaseTransport):
    """A line to the service that can be cut."""

    def __init__(self, app: Flask) -> None:
        def within(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            return app(environ | {INSIDE: True}, start_response)  # as in one process: the service is on no host here

        self.inner = httpx.WSGITransport(app=within)
        self.is_cut = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_cut:
            raise httpx.ConnectError("the line is cut")
        return self.inner.handle_request(request)


@pytest.fixture
def line(identity_app: Flask) -> Line:
    return Line(identity_app)


@pytest.fixture
def visitor(world: World, line: Line) -> Visitor:
    made = create_app(world.services.settings, line, world.services.clock)
    return Visitor(Client(made), world.services.settings.hub_url(world.name))


def test_a_first_visit_gets_a_page_with_try_again_and_then_the_page(visitor: Visitor, line: Line) -> None:
    line.is_cut = True
    page = visitor.open("/login?attempt=x&lang=de")
    assert page.status == 503
    assert page.answer
    assert page.answer.headers["Retry-After"] == "5"
    assert page.heading == "Wir sind gleich wieder da"
    line.is_cut = False
    assert page.follow("Noch einmal versuchen").status == 410


def test_a_form_that_could_not_be_answered_leads_back_to_its_page(
    visitor: Visitor, line: Line, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttled_log, "EVERY_SECONDS", 0.0)  # another test may just have written such a line
    page = visitor.open("/login")
    line.is_cut = True
    with caplog.at_level(logging.ERROR):
        refused = page.press("Sign in", identifier="ada@example.com", password="correct horse 7")
    assert refused.status == 503
    reference = refused.text.partition("give this number: ")[2].split()[0]
    assert reference in {record.__dict__.get("reference") for record in caplog.records}
    assert "correct horse" not in caplog.text
    line.is_cut = False
    assert refused.follow("Try again").heading == "Welcome back"


def test_pages_go_on_with_what_is_known(visitor: Visitor, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenancy, "FRESH_SECONDS", 0.0)
    assert visitor.open("/login").status == 200
    line.is_cut = True
    assert visitor.open("/login").status == 200
