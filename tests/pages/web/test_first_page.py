"""The first requests to a new hub, and what it refuses to start with."""

import re

import pytest
from flask import Blueprint, Flask

from app.hub import create_app
from app.hub.web.application import HubFlask
from app.kit.operations.server import OperationServer
from tests.support.oauth.world import World
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Visitor


@pytest.fixture
def new_hub(world: World, identity_app: OperationServer) -> HubFlask:
    return create_app(world.services.settings, None, world.services.clock, identity_app)


def visitor_at(world: World, app: Flask) -> Visitor:
    return Visitor(PlainClient(app), world.services.settings.hub_url(world.name))


def test_files_of_the_first_page_are_served(world: World, new_hub: HubFlask) -> None:
    page = visitor_at(world, new_hub).open("/login")
    files = re.findall(r"/static/[\w.-]+", page.html)
    assert len(files) == 2
    for path in files:
        answer = PlainClient(new_hub).get(path, base_url=world.services.settings.hub_url(world.name))
        assert answer.status_code == 200


def test_form_of_the_first_page_is_answered(world: World, new_hub: HubFlask) -> None:
    page = visitor_at(world, new_hub).open("/login")
    refused = page.press("Sign in", identifier="absent@example.com", password="correct horse 7")
    assert refused.status == 401


def test_form_of_another_account_gets_its_page_at_first(world: World, new_hub: HubFlask, hub_app: Flask) -> None:
    ada, grace = world.person("ada@example.com"), world.person("grace@example.com")
    loaded = visitor_at(world, hub_app)
    page = loaded.open("/login")
    page.press("Sign in", identifier=ada.email, password=ada.password)
    typed = {"identifier": grace.email, "password": grace.password, "shown_uid": grace.uid}
    first = visitor_at(world, new_hub)
    first.client._cookies = loaded.client._cookies
    refused = first.send("POST", f"{first.home}/login", {**page.form("Sign in").fields, **typed})
    assert (refused.status, refused.heading) == (409, "You switched accounts")


def test_broken_first_page_is_logged_and_shown(
    world: World, new_hub: HubFlask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the tenant is unreadable")

    monkeypatch.setattr(type(new_hub.shared.tenancy), "by_host", broken)
    page = visitor_at(world, new_hub).open("/login")
    assert (page.status, page.heading) == (500, "Something went wrong")
    assert [record.message for record in caplog.records if "a page broke" in record.message]


def test_unknown_host_gets_its_page_at_first(world: World, new_hub: HubFlask) -> None:
    page = Visitor(PlainClient(new_hub), world.services.settings.hub_url("absent")).open("/login")
    assert page.status == 404


@pytest.mark.parametrize("hook", ["before_request", "after_request", "teardown_request", "before_app_request"])
def test_hook_that_would_not_run_stops_the_start(new_hub: HubFlask, hook: str) -> None:
    """A check in a hook of Flask would be skipped by every request."""
    views = Blueprint("added", __name__)
    getattr(views, hook)(lambda *_: None)
    with pytest.raises(RuntimeError, match="would not run"):
        new_hub.add_views([views])


def test_error_handler_that_would_not_run_stops_the_start(new_hub: HubFlask) -> None:
    new_hub.register_error_handler(404, lambda _: ("", 404))
    with pytest.raises(RuntimeError, match="would not run"):
        new_hub.add_views([])
