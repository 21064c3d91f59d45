"""A preview address shows every page with the look of one version, and nothing of a person."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from urllib.parse import quote, urlsplit

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.contract.messages.models import SmsKind
from app.identity.administration.theme_versions import preview
from app.identity.messaging.samples import EMAIL_SAMPLES
from tests.support.browsers import page_samples
from tests.support.browsers.page_checkers import html_problems
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt, Visitor

MAILS = {
    "mails/layout.html": "<p>Own words around</p>{{ content() }}{{ reason() }}",
    "mails/reset.html": "{% block subject %}{{ name }}: new password{% endblock %}{% block heading %}{{ text('own.hello') }}{% endblock %}",
}
CSS = ".own-band { color: #123456 }"
LAYOUT = '<div class="own-band">Own layout</div><div>{{ content() }}</div>{{ languages() }}'


@pytest.fixture
def themes(world: World, identity_app: Flask) -> Themes:
    return Themes(TenantServer(world.services, identity_app, world.tenant_id, world.name, world.api_key, ""))


@pytest.fixture
def address(themes: Themes) -> str:
    """The path of the preview of a draft."""
    theme = themes.stored("Live")
    brand = {"DisplayName": "Drafted", "Css": CSS, "Templates": {"layouts/split.html": LAYOUT, **MAILS}}
    brand |= {"Texts": {"en": {"own.hello": "Welcome to the draft"}}, "Logo": "https://cdn.example/logo.png"}
    version = answered(themes.send("PUT", f"/{theme}/draft", {"Brand": brand}))["Version"]
    made = answered(themes.send("POST", f"/{theme}/versions/{version}/preview"))
    assert made["Url"].startswith(f"http://{themes.tenant.name}.")
    return urlsplit(str(made["Url"])).path


def answer(visitor: Visitor, address: str) -> TestResponse:
    found = visitor.open(address).answer
    assert found is not None
    return found


def assert_has_ended(visitor: Visitor, address: str) -> None:
    """An address that expired looks as one that there never was."""
    shown = visitor.open(address)
    assert shown.answer is not None
    assert shown.answer.status_code == 404
    assert "Preview link expired" in shown.text
    assert "create one with “gatehouse theme preview-link”" in shown.text
    assert "Set-Cookie" not in shown.answer.headers


def test_every_sample_of_the_draft_is_shown(visitor: Visitor, address: str) -> None:
    index = answer(visitor, address)
    assert index.status_code == 200
    framed = [unescape(found) for found in re.findall(r'<iframe src="([^"]+)"', index.get_data(as_text=True))]
    assert framed[::2] == framed[1::2], "a phone and a desktop beside each other"
    assert len(framed[::2]) == len(page_samples.names())
    assert all(frame.startswith(f"{address}/") for frame in framed)
    assert "Drafted, version 2" in index.get_data(as_text=True)
    assert "Where values come from" not in index.get_data(as_text=True), "the tenant's own look inherits nothing"
    assert "inbox." not in index.get_data(as_text=True)
    german = visitor.open(f"{address}/LoginPage/fresh?lang=de&look=version")
    assert "Drafted" in german.text
    assert "Own layout" in german.text
    assert '<html lang="de"' in german.html
    assert "Drafted" not in visitor.open("/login").text


def test_sample_sends_nothing_and_leaves_nothing(visitor: Visitor, address: str) -> None:
    for path in (address, f"{address}/LoginPage/fresh?lang=de", f"{address}/LoginPage/wrong"):
        shown = answer(visitor, path)
        assert shown.headers["Cache-Control"] == "no-store"
        assert shown.headers["X-Robots-Tag"] == "none"
        assert "Set-Cookie" not in shown.headers
    policy = dict(part.strip().split(" ", 1) for part in shown.headers["Content-Security-Policy"].split(";"))
    assert (policy["form-action"], policy["sandbox"], policy["frame-ancestors"]) == (
        "'none'",
        "allow-same-origin",
        "'none'",
    )


def test_style_sheet_of_the_draft_is_served(visitor: Visitor, address: str) -> None:
    page = visitor.open(f"{address}/LoginPage/fresh")
    (sheet,) = re.findall(r'<link rel="stylesheet" nonce="[^"]+" href="(/theme-preview/[^"]+)">', page.html)
    served = answer(visitor, sheet)
    assert ".own-band{color:#123456}" in served.get_data(as_text=True)
    assert served.headers["Cache-Control"] == "no-store"
    assert answer(visitor, f"{address}/theme.000000000000.css").status_code == 404


def test_person_is_not_in_a_preview(world: World, visitor: Visitor, address: str) -> None:
    person = world.person(f"{world.name}@example.com", FirstName="Zelda")
    visitor.open("/login").sign_in(person.email, person.password)
    assert "Zelda" in visitor.open("/profile").html
    for name, state in page_samples.names():
        if name in ("ProfilePage", "SecurityPage", "LoginPage"):
            assert "Zelda" not in visitor.open(f"{address}/{name}/{quote(state)}").html, (name, state)


def test_theme_that_is_not_active_inherits_the_tenants_look(themes: Themes, visitor: Visitor) -> None:
    themes.stored("Live", Links={"help": "https://live.example/help"})
    other = themes.stored("Other", is_active=False)
    path = urlsplit(answered(themes.send("POST", f"/{other}/versions/1/preview"))["Url"]).path
    page = visitor.open(f"{path}/LoginPage/fresh")
    assert "Other" in page.text
    assert "https://live.example/help" in page.html
    index = visitor.open(path).text
    assert "Where values come from" in index
    assert "display_name theme" in index
    assert "links.help tenant" in index


@pytest.mark.parametrize("tag", ["en", "ar"])
def test_every_message_of_the_draft_is_shown(visitor: Visitor, address: str, tag: str) -> None:
    index = visitor.open(f"{address}/messages?lang={tag}")
    framed = [unescape(found) for found in re.findall(r'<iframe src="([^"]+)"', index.html)]
    states = [(kind, state) for kind, states in EMAIL_SAMPLES.items() for state in states]
    assert framed == [
        f"{address}/messages/{kind.name.lower()}/{quote(state)}?lang={tag}" for kind, state in states for _ in range(4)
    ], "light and dark, each on a phone and a desktop"
    assert index.html.count("<pre ") == len(states) + len(SmsKind)
    assert "Drafted: new password" in index.text
    assert html_problems({"messages": index.html}) == []
    assert ("1 part · " in index.text, "of UCS-2" in index.text) == (True, tag == "ar")
    shown = visitor.open(next(frame for frame in framed if "/reset/" in frame))
    assert f'<html lang="{tag}"' in shown.html
    assert "Own words around" in shown.text
    assert "Welcome to the draft" in shown.text


def test_pages_and_messages_lead_to_one_another(visitor: Visitor, address: str) -> None:
    messages = visitor.open(f"{address}?lang=de").follow("Emails")
    assert messages.address == f"{visitor.home}{address}/messages?lang=de"
    assert messages.follow("Pages").address == f"{visitor.home}{address}?lang=de"


def test_mail_of_a_preview_loads_nothing_but_its_pictures(visitor: Visitor, address: str) -> None:
    shown = answer(visitor, f"{address}/messages/reset/link")
    policy = dict(f"{part.strip()} ".split(" ", 1) for part in shown.headers["Content-Security-Policy"].split(";"))
    assert {name: words.split() for name, words in policy.items()} == {
        "default-src": ["'none'"],
        "style-src": ["'unsafe-inline'"],
        "img-src": ["'self'", "https://cdn.example/logo.png"],
        "form-action": ["'none'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'self'"],
        "sandbox": [],
    }
    for page in (shown, answer(visitor, f"{address}/messages")):
        assert page.headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in page.headers


def test_mail_that_fails_is_named_and_not_reported(world: World, themes: Themes, visitor: Visitor) -> None:
    theme = themes.stored("Live")
    brand = {
        "DisplayName": "Odd",
        "Templates": {"mails/reset.html": "{% block intro %}{% if not name %}No{% endif %}{% endblock %}"},
    }
    version = answered(themes.send("PUT", f"/{theme}/draft", {"Brand": brand}))["Version"]
    path = urlsplit(answered(themes.send("POST", f"/{theme}/versions/{version}/preview"))["Url"]).path
    assert "templates/mails/reset.html: nothing is left of the block intro" in visitor.open(f"{path}/messages").text
    assert "We got a request to reset your" in visitor.open(f"{path}/messages/reset/link").text
    assert not entries_of(themes.tenant, "theme.failed")


def test_preview_is_the_tenants_alone(address: str, new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    other = new_visitor_at(new_world())
    for path in ("", "/LoginPage/fresh", "/messages", "/messages/reset/link"):
        assert_has_ended(other, f"{address}{path}")


@pytest.mark.parametrize("change", ["short", "long", "other", "odd"])
def test_changed_address_is_not_found(visitor: Visitor, address: str, change: str) -> None:
    letter = "A" if address[-9] != "A" else "B"
    changed = {
        "short": address[:-4],
        "long": address + "A" * 400,
        "other": address[:-9] + letter + address[-8:],
        "odd": address[:-1] + "~",
    }
    assert_has_ended(visitor, changed[change])
    assert answer(visitor, address).status_code == 200


def test_expired_preview_explains_how_to_get_another(
    themes: Themes, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    theme = themes.stored("Live")
    monkeypatch.setattr(preview, "LIFETIME", timedelta(seconds=-1))
    made = answered(themes.send("POST", f"/{theme}/versions/1/preview"))
    path = urlsplit(made["Url"]).path
    for below in ("", "/LoginPage/fresh?lang=en", "/messages", "/messages/reset/link", "/theme.000000000000.css"):
        assert_has_ended(visitor, f"{path}{below}")
    german = visitor.open(f"{path}?lang=de")
    assert german.answer is not None
    assert "Set-Cookie" not in german.answer.headers
    assert "Vorschaulink abgelaufen" in german.text
    assert "Preview link expired" in german.follow("English").text


def test_preview_of_a_deleted_theme_has_ended(themes: Themes, visitor: Visitor) -> None:
    theme = themes.stored("Live")
    path = urlsplit(answered(themes.send("POST", f"/{theme}/versions/1/preview"))["Url"]).path
    assert answer(visitor, path).status_code == 200
    answered(themes.send("DELETE", f"/{theme}"))
    assert_has_ended(visitor, path)


def test_unknown_samples_and_versions_are_not_found(themes: Themes, visitor: Visitor, address: str) -> None:
    pages = ("absent", "LoginPage/absent", "Absent/fresh", "LoginPage/fresh?look=acme", "LoginPage/fresh?lang=xx")
    messages = ("messages?lang=xx", "messages?lang=keys", "messages/reset/link?lang=xx", "messages/reset/absent")
    for path in (*pages, *messages, "messages/absent/link", "messages/alarm/link?lang=", f"messages/{'x' * 41}/link"):
        assert answer(visitor, f"{address}/{path}").status_code == 404
        assert "Page not found" in visitor.open(f"{address}/{path}").text
    assert refused(themes.send("POST", "/brand/versions/9/preview")) == (404, 8203)
    assert refused(themes.send("POST", "/absent/versions/1/preview")) == (404, 8191)
