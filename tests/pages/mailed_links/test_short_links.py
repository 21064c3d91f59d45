"""Short mailed links, `/r/TOKEN`: the same pages as the older addresses, and the token in no log, header or later address."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client

from app.contract.messages.short_link_paths import SHORT_PATHS
from app.hub.queue_slots import queue_slot
from app.kit.observability import logs
from app.kit.observability.instrumentation import Instrumented
from tests.support.accounts.mailbox import older_form, path_of, token_of
from tests.support.journeys.mailed_links import (
    NEW,
    SAVE,
    deletion,
    newest_link,
    recovery,
    security_alert,
    states,
    verification,
)
from tests.support.journeys.verification import ADA, PASSWORD
from tests.support.oauth.world import World
from tests.support.visitors.visitor import NewVisitor, Visitor

SENT = pytest.mark.parametrize("send_mail", [verification, recovery, deletion, security_alert])
INCOMPLETE = ("Link incomplete", "Link expired", "Page not found")  # passkeys are off here
SHORT = sorted(SHORT_PATHS.values())


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    """Return a function that returns the log lines so far."""
    before, level = logging.root.handlers[:], logging.root.level
    logs.configure(is_json=True)
    yield lambda: capsys.readouterr().err
    logging.root.handlers[:] = before
    logging.root.setLevel(level)


@SENT
def test_older_link_shows_the_same_page(
    world: World, visitor: Visitor, new_visitor: NewVisitor, send_mail: Any
) -> None:
    send_mail(world, visitor)
    link = newest_link(world)
    short, older = new_visitor().open(link), new_visitor().open(older_form(link))
    assert (short.status, short.heading) == (older.status, older.heading)
    assert short.heading not in INCOMPLETE


@SENT
def test_token_is_in_no_log_line(world: World, visitor: Visitor, hub_app: Flask, logged: Any, send_mail: Any) -> None:
    send_mail(world, visitor)
    link = newest_link(world)
    token, host = token_of(link), world.services.settings.hub_url(world.name)
    logs.configure(is_json=True)
    client = Client(Instrumented(hub_app))
    path = path_of(link)
    letter = path.split("/")[1]
    for item in (path, f"/{letter.upper()}/{token}", f"/{letter}/{token}/", f"/z/{token}", f"/{letter}/{token}/x"):
        for method in ("GET", "HEAD", "POST"):
            client.open(item, method=method, base_url=host)
    lines = [line for line in logged().splitlines() if '"request"' in line]
    assert len(lines) == 15
    assert not [line for line in lines if token in line]
    assert json.loads(lines[0])["path"] in SHORT_PATHS


@pytest.mark.both_databases
@SENT
def test_path_of_another_kind_refuses_the_token(
    world: World, visitor: Visitor, new_visitor: NewVisitor, send_mail: Any
) -> None:
    send_mail(world, visitor)
    link, before = newest_link(world), states(world)
    own, token = path_of(link)[:2], token_of(link)
    for letter in SHORT:
        if letter != own:
            page = new_visitor().open(f"{letter}/{token}")
            assert page.heading in INCOMPLETE, letter
    assert states(world) == before


@pytest.mark.parametrize("token", ["x", "a" * 4000, "%F0%9F%9A%AA", "<script>", "..%2e", "a.b", "%22onload=1"])
def test_malformed_token_shows_a_clear_page(visitor: Visitor, token: str) -> None:
    for letter in SHORT:
        page = visitor.open(f"{letter}/{token}")
        assert page.heading in INCOMPLETE, letter
        assert page.status in (200, 403, 404), letter
        assert "<script>" not in page.html.partition("<main")[2], letter


def test_other_paths_are_not_found(visitor: Visitor) -> None:
    for path in ("/z/x", "/b/x", "/r/x/y", "/r/x%2Fy", "/r/../v/x/y", "/rr/x", "/static/r/x", "/r//x"):
        assert visitor.open(path).status == 404, path


def test_path_ignores_case_and_final_slash(world: World, visitor: Visitor, new_visitor: NewVisitor) -> None:
    recovery(world, visitor)
    token = token_of(newest_link(world))
    for path in (f"/R/{token}", f"/r/{token}/"):
        assert new_visitor().open(path).heading == "Choose a new password"
    assert new_visitor().open(f"/r/{token.swapcase()}").heading == "Link incomplete"


def test_token_of_another_address_is_ignored(world: World, visitor: Visitor, new_visitor: NewVisitor) -> None:
    recovery(world, visitor)
    page = new_visitor().open(f"/r/x?vtoken={token_of(newest_link(world))}")
    assert page.heading == "Link incomplete"


def test_form_and_languages_keep_token_in_path_alone(world: World, visitor: Visitor) -> None:
    recovery(world, visitor)
    link = newest_link(world)
    token = token_of(link)
    page = visitor.open(link)
    assert f'action="/r/{token}"' in page.html
    assert page.html.count(token) == 1
    refused = page.press(SAVE, password="short")
    assert refused.status == 422
    german = refused.visitor.open(f"/r/{token}?lang=de")
    assert german.language == "de"
    assert german.html.count(token) == 1


def test_later_address_and_referrer_have_no_token(world: World, visitor: Visitor) -> None:
    recovery(world, visitor)
    link = newest_link(world)
    page = visitor.open(link)
    assert page.answer is not None
    assert page.answer.headers["Referrer-Policy"] == "no-referrer"
    assert "no-store" in page.answer.headers["Cache-Control"]
    fields = {**page.form(SAVE).fields, "password": NEW}
    host = world.services.settings.hub_url(world.name)
    answer = visitor.client.post(f"/r/{token_of(link)}", data=fields, base_url=host)
    assert answer.status_code == 303
    assert token_of(link) not in str(answer.headers)


def test_legacy_address_redirects_to_the_short_one(visitor: Visitor) -> None:
    page = visitor.open("/auth.aspx?vtype=reset&vtoken=unknown&lang=de&attempt=x")
    assert page.address.endswith("/r/unknown?attempt=x&lang=de")


def test_short_alert_link_waits_for_the_hash_queue(hub_app: Flask) -> None:
    """It generates a password, as its page's own address does."""
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/n/" + "x" * 43,
        "QUERY_STRING": "",
        "wsgi.input": None,
        "HTTP_HOST": "acme.localhost",
    }
    shared = hub_app.extensions["gatehouse"]
    assert queue_slot(shared, environ) is not None
    assert queue_slot(shared, environ | {"PATH_INFO": "/v/" + "x" * 43}) is None


def test_used_short_link_is_refused(world: World, visitor: Visitor, new_visitor: NewVisitor) -> None:
    recovery(world, visitor)
    link = newest_link(world)
    visitor.open(link).press(SAVE, password=NEW)
    assert new_visitor().open(link).heading == "Link already used"
    assert new_visitor().open("/login").press("Sign in", identifier=ADA, password=PASSWORD).status == 401
