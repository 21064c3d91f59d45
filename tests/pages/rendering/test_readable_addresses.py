"""Hosts and email domains on pages and in emails: in letters, as people write them; punycode where letters could deceive."""

from __future__ import annotations

import re

import pytest

from tests.support.accounts.mailbox import mails_to
from tests.support.oauth.registrations import Registrar
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

PASSWORD = "correct horse 7"
EMAIL, SHOWN = "ada@xn--bcher-kva.example", "ada@bücher.example"
LIKE_APPLE = "xn--80ak6aa92e.com"


def consent(world: World, visitor: Visitor, **settings: object) -> VisitedPage:
    shop = world.application("shop", client_name="Acme Shop", require_consent=True, **settings)  # type: ignore[arg-type]  # fixture
    ada = world.person(EMAIL)
    return visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)


def test_consent_shows_unicode_host_and_email(world: World, visitor: Visitor) -> None:
    page = consent(world, visitor, client_uri="https://xn--mnchner-n2a.example:8443/")
    assert "münchner.example:8443" in page.text
    assert SHOWN in page.text
    assert "xn--" not in page.text


@pytest.mark.parametrize("home", [f"https://{LIKE_APPLE}/", "https://аррӏе.com/"])
def test_host_that_reads_as_another_is_shown_in_punycode(world: World, visitor: Visitor, home: str) -> None:
    page = consent(world, visitor, client_uri=home)
    assert LIKE_APPLE in page.text
    assert "аррӏе" not in page.text


@pytest.mark.parametrize(
    ("registered", "expected"),
    [
        ("https://bücher.example/cb", "bücher.example"),
        ("https://аррӏе.com/cb", LIKE_APPLE),
        ("https://xn--pple-43d.com/cb", "xn--pple-43d.com"),
    ],
)
def test_consent_names_unicode_destination(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, registered: str, expected: str
) -> None:
    world = new_world(client_registration={"mode": "open"})
    registrar = Registrar(world)
    client = registrar.relying_party(registrar.registered(redirect_uris=[registered], client_name="Calendar"))
    ada = world.person(EMAIL)
    page = new_visitor_at(world).authorize(client).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert re.search(rf"Continue only if you trust {re.escape(expected)}\s*, where your data goes", page.text)
    assert "аррӏе" not in page.text


def test_profile_and_apps_show_unicode(world: World, visitor: Visitor) -> None:
    page = consent(world, visitor, client_uri="https://xn--mnchner-n2a.example/")
    page.press("Allow access")
    profile = visitor.open("/profile")
    assert SHOWN in profile.text
    assert "xn--" not in profile.text
    applications = visitor.open("/applications")
    assert "münchner.example" in applications.text


def test_emails_and_their_page_show_unicode(world: World, visitor: Visitor) -> None:
    ada = world.person(EMAIL)
    sent = visitor.open("/forgot-password").press("Send reset link", identifier=ada.email)
    assert SHOWN in sent.text
    assert "xn--" not in sent.text
    mail = mails_to(world.services, world.tenant_id, EMAIL)[-1]
    assert SHOWN in str(mail)
