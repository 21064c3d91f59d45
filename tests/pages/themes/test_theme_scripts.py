"""Scripts of a theme: on few pages of a verified custom domain, where the operator allows their origin (decision 0421)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from flask import Flask

from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

ORIGIN = "https://analytics.example"
SCRIPTS = {
    "js": f"{ORIGIN}/count.js",
    "head_tags": f'<link rel="preconnect" href="{ORIGIN}">\n<meta name="google-site-verification" content="a&quot;b">',
    "before_script": f'<script async src="{ORIGIN}/a.js?x=1&amp;y=2" data-site="acme"></script>',
    "end_script": '<script src="https://other.example/b.js"></script>',
}
AtDomain = Callable[[], Visitor]


@pytest.fixture
def tenant(new_world: NewWorld, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    world = new_world(registration=False, theme_scripts={"origins": [ORIGIN]})
    world.change_brand(color="#0a7d55", scripts=SCRIPTS)
    return world


@pytest.fixture
def at_domain(tenant: World, hub_app: Flask) -> AtDomain:
    home = tenant.services.settings.custom_url(tenant.add_custom_domain())
    return lambda: Visitor(PlainClient(hub_app), home)


def policy(page: VisitedPage) -> str:
    assert page.answer is not None
    return page.answer.headers["Content-Security-Policy"]


def has_scripts(page: VisitedPage) -> bool:
    """Return whether a page has scripts of other hosts; fails if its policy says something else."""
    assert (ORIGIN in page.html) == (ORIGIN in policy(page)) == ("sandbox" in policy(page))
    assert page.answer is not None
    assert page.answer.headers["Cross-Origin-Opener-Policy"] == (
        "unsafe-none" if ORIGIN in page.html else "same-origin"
    )
    return ORIGIN in page.html


@pytest.mark.both_databases
def test_scripts_are_on_pages_of_the_custom_domain_alone(
    tenant: World, at_domain: AtDomain, new_visitor_at: NewVisitorAt
) -> None:
    own, there = new_visitor_at(tenant), at_domain()
    for path in ("/register", "/logout", "/verify?confirmed=now"):
        assert has_scripts(there.open(path)), path
        assert not has_scripts(own.open(path)), path


def test_page_has_the_allowed_elements_alone(at_domain: AtDomain) -> None:
    page = at_domain().open("/logout")
    nonce = re.findall(r"'nonce-([^']+)'", policy(page))[0]
    head = page.html.partition("</head>")[0].partition(f'<link rel="preconnect" href="{ORIGIN}">\n')[2]
    assert head.splitlines() == [
        '<meta name="google-site-verification" content="a&#34;b">',
        f'<script async src="{ORIGIN}/a.js?x=1&amp;y=2" data-site="acme" nonce="{nonce}"></script>',
        f'<script src="{ORIGIN}/count.js" nonce="{nonce}" defer></script>',
    ]
    assert "other.example" not in page.html + policy(page)


def test_policy_names_the_origins_and_isolates_the_page(tenant: World, at_domain: AtDomain) -> None:
    tenant.change_settings(theme_scripts={"origins": [ORIGIN, "https://collect.example"]})
    first, again = (policy(at_domain().open("/logout")) for _ in range(2))
    nonce = re.findall(r"'nonce-([^']+)'", first)[0]
    assert first == (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        f"connect-src {ORIGIN} https://collect.example; img-src 'self' data: {ORIGIN} https://collect.example; "
        f"form-action 'self'; frame-ancestors 'none'; base-uri 'none', script-src 'self' {ORIGIN}; "
        "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"
    )
    assert nonce not in again


ELSEWHERE = (
    "/login",
    "/forgot-password",
    "/register?attempt=abcdefghijklmnop",
    "/device",
    "/logout?id_token_hint=eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
    "/logout?state=abc",
    "/logout?client_id=shop",
    "/verify?confirmed=now&vtoken=abcdefghijklmnopqrstuvwxyz",
    "/verify?vtoken=abcdefghijklmnopqrstuvwxyz",
    "/verify?confirmed=abcdefghijklmnopqrstuvwxyz0123456789abcdefghij",
    "/verify?confirmed=now&abcdefghijklmnop",
    "/verify?confirmed=now;vtoken=abc",
    "/verify?confirmed=now&x%3D=1",
    "/v/abcdefghijklmnopqrstuvwxyz",
    "/nowhere",
    "/nowhere/abcdefghijklmnop",
    "/error",
    "/cookies-blocked",
    "/_gallery/SignedOutPage/alone?look=own&lang=en",
)


@pytest.mark.parametrize("path", ELSEWHERE)
def test_other_page_or_address_has_no_scripts(at_domain: AtDomain, path: str) -> None:
    visitor = at_domain()
    assert not has_scripts(visitor.open(path))
    assert not has_scripts(visitor.open(path))  # from the cache, where it is one


@pytest.mark.parametrize("query", ["", "?lang=de", "?brand=hazel&lang=ar", "?lang=", "?confirmed"])
def test_language_and_brand_of_an_address_are_no_secrets(at_domain: AtDomain, query: str) -> None:
    assert has_scripts(at_domain().open(f"/logout{query}")) == (query != "?confirmed")


def test_page_after_the_sign_out_form_has_scripts(tenant: World, at_domain: AtDomain) -> None:
    ada = tenant.person("ada@example.com")
    visitor = at_domain()
    visitor.open("/profile").press("Sign in", identifier=ada.email, password=ada.password)
    asked = visitor.open("/logout")
    assert not has_scripts(asked)
    done = asked.press("Sign out")
    assert "signed out" in done.text
    assert has_scripts(done)


def test_page_within_a_sign_in_has_no_scripts(tenant: World, at_domain: AtDomain) -> None:
    visitor = at_domain()
    sign_in = visitor.authorize(tenant.application("shop"))
    attempt = re.findall(r"attempt=([\w-]+)", sign_in.address)[0]
    closed = visitor.open(f"/register?attempt={attempt}")
    assert "Sign-up is closed" in closed.text
    assert not has_scripts(closed)


def test_pages_have_no_scripts_once_the_operator_takes_them_away(tenant: World, at_domain: AtDomain) -> None:
    visitor = at_domain()
    assert has_scripts(visitor.open("/logout"))
    tenant.change_settings(theme_scripts={"origins": []})
    assert not has_scripts(visitor.open("/logout"))
    tenant.change_settings(theme_scripts={"origins": ["https://other.example"]})
    page = visitor.open("/logout")
    assert ORIGIN not in page.html
    assert "https://other.example/b.js" in page.html


def test_page_without_scripts_is_as_without_the_setting(tenant: World, at_domain: AtDomain) -> None:
    def shown() -> tuple[str, str]:
        page = at_domain().open("/login")
        nonce = re.findall(r"'nonce-([^']+)'", policy(page))[0]
        html = re.sub(r'(<input type="hidden" name="\w+" value=)"[^"]+"', r"\1", page.html)
        return html.replace(nonce, ""), policy(page).replace(nonce, "")

    with_scripts = shown()
    tenant.change_settings(theme_scripts={"origins": []})
    tenant.change_brand(color="#0a7d55")
    assert shown() == with_scripts


def test_files_of_a_page_with_scripts_are_not_bound_to_the_host(at_domain: AtDomain) -> None:
    """The page has an origin of its own, so browsers would refuse its style sheet and script."""
    visitor = at_domain()
    files = re.findall(r'(?:href|src)="(/static/[^"]+)"', visitor.open("/logout").html)
    assert len(files) == 2
    for file in files:
        assert visitor.client.get(file, base_url=visitor.home).headers["Cross-Origin-Resource-Policy"] == "cross-origin"
