"""A theme that fails on pages is reported: logged, audited once for each version and file, and emailed to the contacts once."""

from __future__ import annotations

from functools import partial
from threading import Event
from typing import Any

import pytest
from flask import Flask

from app.contract.tenants import tenant_pages
from app.contract.visitor_claims import VisitorClaims
from app.hub.client.theme_failures import MAX_WAITING, ThemeFailureReports
from app.identity.platform.audit import latest
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.design.theme_css import check
from app.kit.operations.client import ServiceUnavailable
from app.kit.templating import compiled
from tests.support.accounts.mailbox import mails_to
from tests.support.oauth.world import World
from tests.support.races import at_once
from tests.support.visitors.visitor import NewVisitor

DESIGN = "design@hazel.example"
SPLIT = "templates/layouts/split.html"
FAILING = {"templates": {"layouts/split.html": "<p>Ours</p>{{ content() }}{{ footer() }}"}}
REFUSED = {"templates": {"layouts/split.html": "{{ content() }}\n{{ removed_value }}{{ footer() }}"}}


@pytest.fixture
def themed(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    world.change_settings(contacts={"theme": [DESIGN]}, default_locale="de", locales=["en", "de"])
    return world


def entries(world: World) -> list[dict[str, Any]]:
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        return [entry.facts for entry in reversed(latest(work, 50)) if entry.event == "theme.failed"]


def mails(world: World, address: str = DESIGN) -> list[dict[str, Any]]:
    return mails_to(world.services, world.tenant_id, address)


def reports(hub: Flask) -> ThemeFailureReports:
    found: ThemeFailureReports = hub.extensions["gatehouse"].theme_failures
    return found


def open_pages(hub: Flask, new_visitor: NewVisitor, *paths: str) -> None:
    for path in paths:
        assert '<div class="pane">' in new_visitor().open(path).html
    reports(hub).wait()


@pytest.mark.both_databases
def test_failing_layout_is_recorded_and_emailed_once(
    themed: World, hub_app: Flask, new_visitor: NewVisitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "MAX_OUTPUT", 10)
    themed.change_brand(**FAILING)
    open_pages(hub_app, new_visitor, "/login", "/register", "/login?lang=en")

    (entry,) = entries(themed)
    assert (entry["template"], entry["reason"]) == (SPLIT, "its output is too large, or it took too long")
    (mail,) = mails(themed)
    assert mail["language"] == "de", "the tenant's language, not the page's"
    assert SPLIT in mail["text"].replace("\u2060", "")
    assert entry["reason"] in mail["text"].replace("\u2060", "")
    assert "gatehouse theme check" in mail["text"]


def test_layout_that_an_upgrade_refuses_is_reported(
    themed: World, hub_app: Flask, new_visitor: NewVisitor, caplog: pytest.LogCaptureFixture
) -> None:
    themed.change_brand(**REFUSED)
    open_pages(hub_app, new_visitor, "/login", "/register")
    (entry,) = entries(themed)
    assert entry["template"] == SPLIT
    assert entry["reason"].startswith("line 2: ")
    assert len(mails(themed)) == 1
    assert caplog.text.count("a file of the tenant's theme failed; pages have ours") == 1


def test_style_sheet_that_an_upgrade_refuses_is_reported(
    themed: World, hub_app: Flask, new_visitor: NewVisitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "MAX_BYTES", 5)
    themed.change_brand(css=".own-slogan{color:red}")
    open_pages(hub_app, new_visitor, "/login")
    assert [entry["template"] for entry in entries(themed)] == ["static/css/theme.css"]


def test_next_version_that_fails_is_reported_again(themed: World, hub_app: Flask, new_visitor: NewVisitor) -> None:
    for words in ("First", "Second"):
        themed.change_brand(**REFUSED, texts={"en": {"own.words": words}})
        open_pages(hub_app, new_visitor, "/login")
    assert len({entry["digest"] for entry in entries(themed)}) == len(mails(themed)) == 2


@pytest.mark.both_databases
def test_two_hubs_at_once_send_one_email(themed: World, hub_app: Flask) -> None:
    client, host = hub_app.extensions["gatehouse"].identity_client, f"{themed.name}.localhost:8000"
    files = [f"templates/layouts/{name}.html" for name in ("split", "console")] * 6

    def report(file: str) -> bool:
        failure = tenant_pages.ThemeFailure(digest="a" * 64, template=file, reason="line 1: KeyError")
        return bool(client.for_visit(VisitorClaims(host=host), None)(tenant_pages.theme_failed, failure).is_new)

    assert sum(at_once([partial(report, file) for file in files])) == 2
    assert len(entries(themed)) == 2
    assert len(mails(themed)) == 1


def test_reason_has_no_value_of_the_page(
    themed: World, hub_app: Flask, new_visitor: NewVisitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise ValueError("ada@example.com")

    monkeypatch.setattr(compiled, "Markup", fail)
    themed.change_brand(**FAILING)
    open_pages(hub_app, new_visitor, "/login")
    assert [entry["reason"] for entry in entries(themed)] == ["line 1: ValueError"]


def test_default_contacts_get_what_has_no_contacts(themed: World, hub_app: Flask, new_visitor: NewVisitor) -> None:
    themed.change_settings(contacts={"default": ["all@hazel.example"], "webhooks": [DESIGN]})
    themed.change_brand(**REFUSED)
    open_pages(hub_app, new_visitor, "/login")
    assert (len(mails(themed, "all@hazel.example")), len(mails(themed))) == (1, 0)


def test_pages_do_not_wait_for_a_report_that_hangs(
    themed: World, hub_app: Flask, new_visitor: NewVisitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over = Event()

    def hanging(_: str) -> Any:
        return lambda *_: is_over.wait(30)

    held = ThemeFailureReports(hanging)
    monkeypatch.setitem(hub_app.extensions["gatehouse"].__dict__, "theme_failures", held)
    themed.change_brand(**REFUSED)
    assert '<div class="pane">' in new_visitor().open("/login").html
    for number in range(3 * MAX_WAITING):
        held.add("hazel", "1", "b" * 64, f"templates/{number}", "x" * 500)
    assert len(held._waiting) <= MAX_WAITING
    is_over.set()
    held.wait()


def test_report_that_fails_is_sent_at_the_next_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.hub.client.theme_failures.PAUSE_SECONDS", 0)
    sent: list[str] = []

    def client(tenant: str) -> Any:
        sent.append(tenant)
        if len(sent) == 1:
            raise ServiceUnavailable
        return lambda *_: None

    failures = ThemeFailureReports(client)
    for _ in range(3):
        failures.add("hazel", "1", "c" * 64, SPLIT, "line 1")
        failures.wait()
    assert sent == ["hazel", "hazel"]


def test_contacts_that_are_set_later_get_the_email(themed: World, hub_app: Flask, new_visitor: NewVisitor) -> None:
    themed.change_settings(contacts={})
    themed.change_brand(**REFUSED)
    open_pages(hub_app, new_visitor, "/login")
    themed.change_settings(contacts={"theme": [DESIGN]})
    open_pages(hub_app, new_visitor, "/login", "/register")
    assert (len(entries(themed)), len(mails(themed))) == (1, 1)


def test_page_and_email_of_a_version_email_contacts_once(
    themed: World, hub_app: Flask, new_visitor: NewVisitor
) -> None:
    person = themed.person("ada@example.com")
    templates = {**REFUSED["templates"], "mails/reset.html": "{% block heading %}{{ gone }}{% endblock %}"}
    themed.change_brand(templates=templates)
    page = new_visitor().open("/forgot-password").press("Send reset link", identifier=person.email)
    assert page.heading == "Check your email"
    reports(hub_app).wait()
    assert {entry["template"] for entry in entries(themed)} == {SPLIT, "templates/mails/reset.html"}
    assert len({entry["digest"] for entry in entries(themed)}) == 1
    assert len(mails(themed)) == 1
