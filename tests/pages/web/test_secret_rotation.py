"""Rotation of the service secret: hub and identity service restart at different moments with different lines."""

from __future__ import annotations

import logging
from dataclasses import replace

import httpx
import pytest
from flask import Flask
from werkzeug.test import Client

from app.hub import create_app
from tests.support.oauth.world import World
from tests.support.services.identity_service import SECRET
from tests.support.visitors.visitor import Visitor

pytestmark = pytest.mark.both_databases

NEXT = b"another secret of the tests, as long as the first"


def hub_with(world: World, identity_app: Flask, *lines: bytes) -> Client:
    """Return a client of a separate hub with these secret lines; the identity service has only the old one."""
    settings = replace(world.services.settings, secrets=lines)
    return Client(create_app(settings, httpx.WSGITransport(app=identity_app), world.services.clock))


def visitor_of(world: World, browser: Client) -> Visitor:
    return Visitor(browser, world.services.settings.hub_url(world.name))


@pytest.mark.parametrize("lines", [(SECRET, NEXT), (NEXT, SECRET)])
def test_hub_with_the_new_line_signs_in(world: World, identity_app: Flask, lines: tuple[bytes, ...]) -> None:
    ada = world.person("ada@example.test")
    visitor = visitor_of(world, hub_with(world, identity_app, *lines))
    profile = visitor.open("/profile").press("Sign in", identifier=ada.email, password=ada.password)
    assert profile.status == 200
    assert ada.email in profile.text


@pytest.mark.parametrize(
    ("first", "then"), [((SECRET,), (SECRET, NEXT)), ((SECRET, NEXT), (NEXT, SECRET)), ((NEXT, SECRET), (SECRET, NEXT))]
)
def test_form_survives_the_rotation_of_the_hubs_secret(
    world: World, identity_app: Flask, first: tuple[bytes, ...], then: tuple[bytes, ...]
) -> None:
    ada = world.person("ada@example.test")
    visitor = visitor_of(world, hub_with(world, identity_app, *first))
    page = visitor.open("/profile")
    visitor.client.application = hub_with(world, identity_app, *then).application
    profile = page.press("Sign in", identifier=ada.email, password=ada.password)
    assert profile.status == 200
    assert ada.email in profile.text


def test_hub_with_unknown_secret_shows_the_503_page(
    world: World, identity_app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        page = visitor_of(world, hub_with(world, identity_app, NEXT)).open("/login")
    assert page.status == 503
    assert page.answer
    assert page.answer.headers["Retry-After"] == "5"
    assert "GATEHOUSE_SECRET_KEY" in str([record.__dict__ for record in caplog.records])
