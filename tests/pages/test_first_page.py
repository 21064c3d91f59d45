"""The first page of a process, which is answered before the other pages are loaded."""

import re

import pytest
from flask import Flask

from app.hub import create_front
from app.hub.front import Front
from app.kit.server import Server
from tests.support.oauth_world import World
from tests.support.plain_client import PlainClient
from tests.support.visitor import Visitor


@pytest.fixture
def front(world: World, identity_app: Server) -> Front:
    return create_front(world.services.settings, world.services.clock, identity_app)


def visitor_at(world: World, app: Flask | Front) -> Visitor:
    return Visitor(PlainClient(app), world.services.settings.hub_url(world.name))


def plain(html: str) -> str:
    """Leave out what is fresh in each visit."""
    return re.sub(r"[\w-]{16,}", "", html)


def test_first_page_is_that_of_the_whole_hub(world: World, front: Front, hub_app: Flask) -> None:
    first = visitor_at(world, front).open("/login").answer
    whole = visitor_at(world, hub_app).open("/login").answer
    assert first is not None
    assert whole is not None
    assert not front.is_whole
    assert plain(first.text) == plain(whole.text)
    assert {name for name, _ in first.headers} == {name for name, _ in whole.headers}
    assert "script-src" in first.headers["Content-Security-Policy"]


def test_form_of_first_page_is_read_by_the_whole_hub(world: World, front: Front) -> None:
    page = visitor_at(world, front).open("/login")
    refused = page.press("Sign in", identifier="nobody@example.com", password="correct horse 7")
    assert front.is_whole
    assert refused.status == 401


@pytest.mark.parametrize("address", ["/register", "/login?lang=de", "/nowhere"])
def test_other_pages_wait_for_the_whole_hub(world: World, front: Front, hub_app: Flask, address: str) -> None:
    ours, theirs = visitor_at(world, front).open(address), visitor_at(world, hub_app).open(address)
    assert front.is_whole
    assert (ours.status, ours.heading) == (theirs.status, theirs.heading)


def test_broken_first_page_is_shown_by_the_whole_hub(
    world: World, front: Front, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the tenant is unreadable")

    monkeypatch.setattr(type(front.shared.tenancy), "by_host", broken)
    page = visitor_at(world, front).open("/login")
    assert front.is_whole
    assert (page.status, page.heading) == (500, "Something went wrong")
    assert [record.message for record in caplog.records if "a page broke" in record.message]


def test_unknown_host_gets_its_page_from_the_first_hub(world: World, front: Front) -> None:
    page = Visitor(PlainClient(front), world.services.settings.hub_url("nobody")).open("/login")
    assert page.status == 404
    assert not front.is_whole
