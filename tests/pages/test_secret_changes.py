"""While the secret changes, hub and identity service restart at different moments: each knows other lines of it."""

from __future__ import annotations

import logging
from dataclasses import replace

import httpx
import pytest
from flask import Flask
from werkzeug.test import Client

from app.hub import create_app
from tests.support.identity_service import SECRET
from tests.support.oauth_world import World
from tests.support.visitor import Visitor

NEXT = b"another secret of the tests, as long as the first"


def hub_with(world: World, identity_app: Flask, *lines: bytes) -> Client:
    """A separate hub whose secret has these lines; the identity service has only the old one."""
    settings = replace(world.services.settings, secrets=lines)
    return Client(create_app(settings, httpx.WSGITransport(app=identity_app), world.services.clock))


def at(world: World, browser: Client) -> Visitor:
    return Visitor(browser, world.services.settings.hub_url(world.name))


@pytest.mark.parametrize("lines", [(SECRET, NEXT), (NEXT, SECRET)])
def test_a_hub_that_knows_the_new_line_already_signs_in(
    world: World, identity_app: Flask, lines: tuple[bytes, ...]
) -> None:
    ada = world.person("ada@example.test")
    visitor = at(world, hub_with(world, identity_app, *lines))
    landed = visitor.open("/profile").press("Sign in", identifier=ada.email, password=ada.password)
    assert landed.status == 200
    assert ada.email in landed.text


@pytest.mark.parametrize(
    ("first", "then"), [((SECRET,), (SECRET, NEXT)), ((SECRET, NEXT), (NEXT, SECRET)), ((NEXT, SECRET), (SECRET, NEXT))]
)
def test_a_form_outlives_the_change_of_the_hubs_secret(
    world: World, identity_app: Flask, first: tuple[bytes, ...], then: tuple[bytes, ...]
) -> None:
    ada = world.person("ada@example.test")
    visitor = at(world, hub_with(world, identity_app, *first))
    page = visitor.open("/profile")
    visitor.client.application = hub_with(world, identity_app, *then).application
    landed = page.press("Sign in", identifier=ada.email, password=ada.password)
    assert landed.status == 200
    assert ada.email in landed.text


def test_a_hub_with_unknown_lines_shows_its_calm_page(
    world: World, identity_app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        page = at(world, hub_with(world, identity_app, NEXT)).open("/login")
    assert page.status == 503
    assert page.answer
    assert page.answer.headers["Retry-After"] == "5"
    assert "GATEHOUSE_SECRET_KEY" in str([record.__dict__ for record in caplog.records])
