"""The response at a private-use scheme opens the app and leaves a page that says that the window can be closed."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.oauth.relying_party import Pkce, RelyingParty
from tests.support.oauth.world import World
from tests.support.visitors.visitor import Form, Forms, VisitedPage, Visitor

PASSWORD = "correct horse 7"
TITLES = {
    "en": "You can close this window",
    "de": "Sie können dieses Fenster schließen",
    "ar": "يمكنك إغلاق هذه النافذة",
}
PKCE = Pkce()
CHALLENGE = {"code_challenge": PKCE.challenge, "code_challenge_method": "S256"}


@pytest.fixture
def app(world: World) -> RelyingParty:
    """Return a native application."""
    world.person("ada@example.com")
    return world.application(
        "native",
        secret=None,
        client_name="Acme Notes",
        application_type="native",
        redirect_uris=["com.example.notes:/cb"],
    )


def opened(page: VisitedPage) -> dict[str, str]:
    """Return what the app gets from the page, which opens it by itself and by its button."""
    refresh = unescape(re.findall(r'<meta http-equiv="refresh" content="0;url=([^"]+)">', page.html)[0])
    button = [unescape(href) for href in re.findall(r'<a class="button" href="([^"]+)"', page.html)]
    assert button == [refresh]
    assert refresh.startswith("com.example.notes:/cb?")
    return {name: values[0] for name, values in parse_qs(urlsplit(refresh).query).items()}


@pytest.mark.parametrize("language", TITLES)
def test_sign_in_leaves_a_page_to_close(app: RelyingParty, visitor: Visitor, language: str) -> None:
    visitor.language = language
    login = visitor.authorize(app, **CHALLENGE, state="5tate & more")
    button = next(label for form in _forms(login) for label in form.buttons if "password" in form.fields)
    page = login.press(button, identifier="ada@example.com", password=PASSWORD)
    assert page.status == 200
    assert page.heading == TITLES[language]
    assert "Acme Notes" in page.text
    sent = opened(page)
    assert sent["state"] == "5tate & more"
    assert app.redeem(sent["code"], code_verifier=PKCE.verifier).status_code == 200


def _forms(page: VisitedPage) -> list[Form]:

    return Forms(page.html).found


def test_session_leaves_the_same_page(app: RelyingParty, visitor: Visitor) -> None:
    visitor.authorize(app, **CHALLENGE).press("Sign in", identifier="ada@example.com", password=PASSWORD)
    page = visitor.authorize(app, **CHALLENGE)
    assert page.heading == TITLES["en"]
    assert app.redeem(opened(page)["code"], code_verifier=PKCE.verifier).status_code == 200


def test_error_leaves_the_same_page(app: RelyingParty, visitor: Visitor) -> None:
    page = visitor.authorize(app, **CHALLENGE, prompt="none")
    assert page.heading == TITLES["en"]
    assert opened(page)["error"] == "login_required"


def test_page_is_stored_nowhere_and_names_no_referrer(app: RelyingParty, visitor: Visitor) -> None:
    page = visitor.authorize(app, **CHALLENGE, prompt="none")
    assert page.answer is not None
    assert page.answer.headers["Cache-Control"] == "no-store"
    assert page.answer.headers["Referrer-Policy"] == "no-referrer"
    assert "script-src 'nonce-" in page.answer.headers["Content-Security-Policy"]


def test_state_cannot_leave_the_attribute(app: RelyingParty, visitor: Visitor) -> None:
    page = visitor.authorize(
        app, **CHALLENGE, prompt="none", state='"><script>alert(1)</script>;url=https://evil.example'
    )
    assert "<script>alert" not in page.html
    assert opened(page)["state"].startswith('"><script>')


def test_web_and_loopback_addresses_are_redirects(world: World, visitor: Visitor) -> None:
    for uri in ("https://shop.example/cb", "http://127.0.0.1/cb"):
        app = world.application(f"app{len(uri)}", secret=None, application_type="native", redirect_uris=[uri])
        assert visitor.authorize(app, **CHALLENGE, prompt="none").query["error"] == "login_required"


def test_sign_out_leaves_the_same_page(world: World, visitor: Visitor) -> None:
    world.person("ada@example.com")
    app = world.application(
        "native", secret=None, client_name="Acme Notes", application_type="native",
        redirect_uris=["com.example.notes:/cb"], post_logout_redirect_uris=["com.example.notes:/out"],
    )  # fmt: skip
    page = visitor.authorize(app, **CHALLENGE).press("Sign in", identifier="ada@example.com", password=PASSWORD)
    tokens = app.redeem(opened(page)["code"], code_verifier=PKCE.verifier).json or {}
    requested = f"id_token_hint={tokens['id_token']}&post_logout_redirect_uri=com.example.notes:/out&state=s"
    page = visitor.open(f"/service/oidc/logout?{requested}")
    assert page.heading == TITLES["en"]
    assert "com.example.notes:/out?state=s" in unescape(page.html)
