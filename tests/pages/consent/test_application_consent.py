"""The consent page for applications."""

import json
import re

import pytest

from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, VisitedPage, Visitor

PASSWORD = "correct horse 7"


def consent_page(world: World, visitor: Visitor) -> VisitedPage:
    shop = world.application("shop", client_name="Acme Shop", require_consent=True, client_uri="https://shop.example/")
    ada = world.person("ada@example.com")
    return visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)


def test_page_names_application_account_and_scopes(world: World, visitor: Visitor) -> None:
    page = consent_page(world, visitor)
    assert page.heading == f"Acme Shop wants to use your {world.name.title()} account"
    assert "shop.example" in page.text
    assert "See your email address" in page.text
    assert "ada@example.com" in page.text


def test_openid_scope_alone_is_explained(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop", require_consent=True), world.person("ada@example.com")
    page = visitor.authorize(shop, scope="openid").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert "Confirm your identity" in page.text
    assert page.press("Allow access").query["code"]


@pytest.mark.parametrize(
    ("language", "phrases"),
    [
        ("en", ("See your full profile, your consents and your passkeys", "even delete it")),
        ("de", ("Ihr vollständiges Profil, Ihre Einwilligungen", "es sogar löschen")),
        ("ar", ("الاطلاع على ملفك الشخصي الكامل", "بل وحذفه")),
    ],
)
def test_interface_access_is_explained_in_each_language(
    world: World, visitor: Visitor, language: str, phrases: tuple[str, str]
) -> None:
    """The scopes come from `interface_access`, not from the request."""
    shop = world.application("shop", require_consent=True, interface_access="full")
    ada = world.person("ada@example.com")
    visitor.authorize(shop, scope="openid").press("Sign in", identifier=ada.email, password=PASSWORD)
    page = visitor.authorize(shop, scope="openid", ui_locales=language)
    assert page.language == language
    assert [phrase for phrase in phrases if phrase not in page.text] == []


def test_power_over_the_account_is_asked_for_first(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", require_consent=True, interface_access="full")
    ada = world.person("ada@example.com")
    asked = visitor.authorize(shop, scope="email openid offline_access")
    text = asked.press("Sign in", identifier=ada.email, password=PASSWORD).text
    phrases = ("Change anything in your account", "Confirm your identity", "See your email", "Until you remove it")
    places = [text.index(phrase) for phrase in phrases]
    assert places == sorted(places)


def test_request_without_scope_is_explained(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", protocol="oauth", require_consent=True)
    ada = world.person("ada@example.com")
    page = visitor.authorize(shop, scope=None).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.heading == f"shop wants to use your {world.name.title()} account"
    assert "Confirm your identity" in page.text


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
    assert refused.heading == f"Acme Shop wants to use your {world.name.title()} account"
    assert refused.press("Allow access").query["code"]


def test_consent_is_tabbed_in_the_order_it_is_seen(world: World, visitor: Visitor) -> None:
    """The account with its switch stands above the heading, in a form of its own; each form has its own first button."""
    shown = re.findall(r"<button[^>]*>(.*?)</button>", consent_page(world, visitor).html)
    assert shown == ["Switch", "Allow access", "Don’t allow"]


def test_switch_opens_the_account_chooser(world: World, visitor: Visitor) -> None:
    """The session stays, and the chosen account answers."""
    chooser = consent_page(world, visitor).press("Switch")
    assert chooser.heading == "Choose an account"
    assert visitor.open(chooser.address).heading == "Choose an account"
    login = chooser.press("Use another account")
    assert login.is_sign_in
    bob = world.person("bob@example.com")
    consent = login.press("Sign in", identifier=bob.email, password=PASSWORD)
    assert bob.email in consent.text
    ada = consent.press("Switch").press("ada@example.com")
    assert ada.heading.startswith("Acme Shop wants to use")
    assert ada.press("Allow access").query["code"]


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
    assert next_page.heading.endswith(f"wants to use your {world.name.title()} account")
    assert address not in next_page.html


def test_unticked_scope_is_left_out(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", client_name="Acme Shop", require_consent=True, optional_scopes=["email"])
    ada = world.person("ada@example.com")
    page = visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert re.findall(r'<input type="checkbox" name="keep\.(\w+)" value="yes" checked>', page.html) == ["email"]
    assert "Optional" in page.text
    code = page.press("Allow access").query["code"]  # the checkbox is not sent: unticked
    assert (shop.redeem(code).json or {})["scope"] == "openid profile"
    again = visitor.authorize(shop, prompt="consent")
    code = again.press("Allow access", **{"keep.email": "yes"}).query["code"]
    assert (shop.redeem(code).json or {})["scope"] == "openid profile email"


def test_wider_request_shows_what_is_new(world: World, visitor: Visitor) -> None:
    consent_page(world, visitor).press("Allow access")
    shop = world.application("more", client_id="more", client_name="More", require_consent=True)
    visitor.authorize(shop, scope="openid profile").press("Allow access")
    page = visitor.authorize(shop, scope="openid profile address")
    assert page.heading == f"More wants more access to your {world.name.title()} account"
    new, granted = page.text.split("Already allowed:")
    assert "See your postal address" in new
    assert "See your name, picture and language" in granted


def test_revoked_application_asks_for_everything_again(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", client_name="Acme Shop", require_consent=True, optional_scopes=["email"])
    ada = world.person("ada@example.com")
    visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD).press("Allow access")
    visitor.open("/applications").press("Remove access: Acme Shop")
    page = visitor.authorize(shop)
    assert page.heading == f"Acme Shop wants to use your {world.name.title()} account"
    assert "See your email address" in page.text


def test_details_are_shown_in_the_visitors_language(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    title = {"en": "Make a payment", "de": "Zahlung ausführen"}
    fields = {"amount": {"required": True, "label": {"en": "Amount", "de": "Betrag"}}}
    world = new_world(authorization_details_types={"payment": {"title": title, "fields": fields}})
    visitor = new_visitor_at(world)
    bank = world.application("bank", client_name="Bank", authorization_details_types=["payment"])
    ada = world.person("ada@example.com")
    amount = "<b>EUR</b> 123.50"
    details = json.dumps([{"type": "payment", "amount": amount, "locations": ["https://bank.example/p"]}])
    page = visitor.authorize(bank, authorization_details=details).press(
        "Sign in", identifier=ada.email, password=PASSWORD
    )
    assert page.heading == "Allow Bank to do this?"
    for shown in ("Make a payment", "Amount", "Where", "https://bank.example/p"):
        assert shown in page.text
    assert "&lt;b&gt;EUR&lt;/b&gt; 123.50" in page.html
    german = visitor.authorize(bank, authorization_details=details, ui_locales="de")
    assert "Zahlung ausführen" in german.text
    assert "Betrag" in german.text
    assert (bank.redeem(german.press("Erlauben").query["code"]).json or {})["authorization_details"]
