"""The session iframe and `session_state` (OpenID Connect Session Management 1.0); off unless the tenant switches it on."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, Visitor

IFRAME = "/service/oidc/check-session"


@pytest.fixture
def managed(new_world: NewWorld) -> World:
    return new_world(session_management=True)


@pytest.fixture
def visitor(managed: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(managed)


@pytest.fixture
def shop(managed: World) -> RelyingParty:
    return managed.application("Shop", client_id="shop")


@pytest.fixture
def ada(managed: World) -> Person:
    return managed.person("ada@example.com")


def signed_in(visitor: Visitor, shop: RelyingParty, ada: Person, **changed: str) -> dict[str, str]:
    page = visitor.authorize(shop, **changed)
    if page.status == 200:
        page = page.press("Sign in", identifier=ada.email, password=ada.password)
    return page.query


def state_of(visitor: Visitor) -> str:
    return visitor.cookie("gatehouse-state").value


def test_session_state_is_the_digest_that_the_iframe_computes(
    visitor: Visitor, shop: RelyingParty, ada: Person
) -> None:
    """Session Management 1.0 section 2: client id, origin, browser state and salt."""
    digest, _, salt = signed_in(visitor, shop, ada)["session_state"].partition(".")
    text = f"shop https://shop.example {state_of(visitor)} {salt}"
    assert digest == hashlib.sha256(text.encode()).hexdigest()
    again, _, other_salt = signed_in(visitor, shop, ada)["session_state"].partition(".")
    assert salt != other_salt
    assert again == hashlib.sha256(f"shop https://shop.example {state_of(visitor)} {other_salt}".encode()).hexdigest()


def test_cookie_is_for_the_iframe_alone(visitor: Visitor, shop: RelyingParty, ada: Person) -> None:
    signed_in(visitor, shop, ada)
    cookie = visitor.cookie("gatehouse-state")
    assert (cookie.path, cookie.secure, cookie.same_site, cookie.http_only) == (IFRAME, True, "None", False)
    assert cookie.value not in visitor.session_cookie()


def test_browser_state_changes_with_sign_in_and_sign_out(
    managed: World, visitor: Visitor, shop: RelyingParty, ada: Person
) -> None:
    seen = []
    signed_in(visitor, shop, ada)
    seen.append(state_of(visitor))
    signed_in(visitor, shop, ada)
    assert state_of(visitor) == seen[0], "the same session has the same state"
    visitor.open("/logout").press("Sign out")
    seen.append(state_of(visitor))
    signed_in(visitor, shop, managed.person("grace@example.com"))
    seen.append(state_of(visitor))
    assert len(set(seen)) == 3


def test_reauthentication_keeps_the_state(visitor: Visitor, shop: RelyingParty, ada: Person) -> None:
    signed_in(visitor, shop, ada)
    before = state_of(visitor)
    page = visitor.authorize(shop, prompt="login").press("Continue", password=ada.password)
    assert "session_state" in page.query
    assert state_of(visitor) == before


def test_response_without_openid_or_web_origin_has_no_state(managed: World, visitor: Visitor, ada: Person) -> None:
    app = managed.application("phone", secret=None, application_type="native", redirect_uris=["com.example.phone:/cb"])
    legacy = managed.application("Legacy", protocol="oauth")
    assert "session_state" not in signed_in(visitor, app, ada, code_challenge="x" * 43, code_challenge_method="S256")
    assert "session_state" not in signed_in(visitor, legacy, ada, scope="email")


def test_iframe_has_one_script_and_may_be_framed(visitor: Visitor) -> None:
    """Session Management 1.0 section 3.2: the only page that other sites may frame; its script is named by its hash."""
    page = visitor.open(IFRAME)
    assert page.answer is not None
    headers, script = page.answer.headers, re.findall(r"<script>(.*?)</script>", page.html, re.DOTALL)[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert headers["Content-Security-Policy"] == (
        f"default-src 'none'; script-src 'sha256-{digest}'; frame-ancestors *; base-uri 'none'; form-action 'none'"
    )
    assert "X-Frame-Options" not in headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert page.html.count("<script") == 1
    assert "innerHTML" not in script
    other = visitor.open("/login").answer
    assert other is not None
    assert (other.headers["X-Frame-Options"], "frame-ancestors 'none'" in other.headers["Content-Security-Policy"]) == (
        "DENY",
        True,
    )


@pytest.mark.both_databases
def test_metadata_offers_the_iframe_where_it_is_served(managed: World, shop: RelyingParty) -> None:
    """Session Management 1.0 section 3.3."""
    for path in ("/.well-known/openid-configuration", "/service/oidc/Shop/.well-known/openid-configuration"):
        assert (shop.get(path).json or {})["check_session_iframe"] == f"{shop.hub_url}{IFRAME}"


def test_session_management_is_off_by_default(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world()
    app, person, browser = world.application("Shop"), world.person("ada@example.com"), new_visitor_at(world)
    assert "session_state" not in signed_in(browser, app, person)
    assert browser.cookies("gatehouse-state") == []
    assert browser.open(IFRAME).status == 404
    assert "check_session_iframe" not in (app.get("/.well-known/openid-configuration").json or {})
