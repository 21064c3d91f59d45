"""The consent page for applications."""

import re

import pytest

from tests.support.oauth_world import World
from tests.support.visitor import NewVisitor, VisitedPage, Visitor

PASSWORD = "correct horse 7"


def consent_page(world: World, visitor: Visitor) -> VisitedPage:
    shop = world.application("shop", client_name="Acme Shop", require_consent=True, client_uri="https://shop.example/")
    ada = world.person("ada@example.com")
    return visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)


def test_page_names_application_account_and_scopes(world: World, visitor: Visitor) -> None:
    page = consent_page(world, visitor)
    assert page.heading == f"Acme Shop wants to access your {world.name.title()} account"
    assert "shop.example" in page.text
    assert "See your email address" in page.text
    assert "ada@example.com" in page.text


def test_openid_scope_alone_is_explained(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop", require_consent=True), world.person("ada@example.com")
    page = visitor.authorize(shop, scope="openid").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert "Know who you are" in page.text
    assert page.press("Allow access").query["code"]


@pytest.mark.parametrize(
    ("language", "phrases"),
    [
        ("en", ("See your full profile, your consents and your passkeys", "once you confirm it’s you")),
        ("de", ("Ihr vollständiges Profil, Ihre Einwilligungen", "nach Bestätigung Ihrer Identität")),
        ("ar", ("الاطلاع على ملفك الشخصي الكامل", "بعد أن تؤكد هويتك")),
    ],
)
def test_interface_access_is_explained_in_each_language(
    world: World, visitor: Visitor, language: str, phrases: tuple[str, str]
) -> None:
    """The scopes come from `interface_access`, not from the request."""
    shop, ada = (
        world.application("shop", require_consent=True, interface_access="full"),
        world.person("ada@example.com"),
    )
    visitor.authorize(shop, scope="openid").press("Sign in", identifier=ada.email, password=PASSWORD)
    page = visitor.authorize(shop, scope="openid", ui_locales=language)
    assert page.language == language
    assert [one for one in phrases if one not in page.text] == []


def test_request_without_scope_is_explained(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", protocol="oauth", require_consent=True)
    ada = world.person("ada@example.com")
    page = visitor.authorize(shop, scope=None).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.heading == f"shop wants to access your {world.name.title()} account"
    assert "Know who you are" in page.text


def test_allowing_returns_a_code(world: World, visitor: Visitor) -> None:
    assert consent_page(world, visitor).press("Allow access").query["code"]


def test_denying_returns_access_denied(world: World, visitor: Visitor) -> None:
    callback = consent_page(world, visitor).press("Don’t allow")
    assert callback.query["error"] == "access_denied"
    assert "code" not in callback.query


def test_consent_with_foreign_token_is_refused(world: World, visitor: Visitor, new_visitor: NewVisitor) -> None:
    page = consent_page(world, visitor)
    token = new_visitor().open("/login").form("Sign in").fields["token"]
    refused = page.press("Allow access", token=token)
    assert refused.status == 403
    assert refused.heading == f"Acme Shop wants to access your {world.name.title()} account"
    assert refused.press("Allow access").query["code"]


def test_consent_is_tabbed_in_the_order_it_is_seen(world: World, visitor: Visitor) -> None:
    """The account with its switch stands above the heading, in a form of its own; each form has its own first button."""
    shown = re.findall(r"<button[^>]*>(.*?)</button>", consent_page(world, visitor).html)
    assert shown == ["Switch", "Allow access", "Don’t allow"]


def test_switching_account_shows_the_login_page(world: World, visitor: Visitor) -> None:
    page = consent_page(world, visitor).press("Switch")
    assert page.heading == "Welcome back"
    bob = world.person("bob@example.com")
    assert "bob@example.com" in page.press("Sign in", identifier=bob.email, password=PASSWORD).text


def test_consent_without_interaction_answers_410(visitor: Visitor) -> None:
    assert visitor.open("/consent").status == 410
    assert visitor.open("/consent?attempt=unknown").status == 410


@pytest.mark.parametrize("logo", ["https://a.b;script-src-elem *;x/x.png", "https://[::1/x", "javascript:alert(1)"])
def test_malformed_logo_uri_does_not_reach_the_csp(world: World, visitor: Visitor, logo: str) -> None:
    shop, ada = world.application("shop", require_consent=True, logo_uri=logo), world.person("ada@example.com")
    page = visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.answer is not None
    assert "img-src 'self' data:;" in page.answer.headers["Content-Security-Policy"]
    assert logo not in page.html


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "//evil.example/"])
def test_client_links_without_web_address_are_not_shown(world: World, visitor: Visitor, address: str) -> None:
    links = {"client_uri": address, "policy_uri": address, "tos_uri": address, "logo_uri": address}
    shop, ada = world.application("shop", require_consent=True, **links), world.person("ada@example.com")
    page = visitor.authorize(shop)
    assert address not in page.html
    next_page = page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert next_page.heading.endswith(f"wants to access your {world.name.title()} account")
    assert address not in next_page.html
