"""What an application may do is asked before it may."""

import re

import pytest

from tests.support.oauth_world import World
from tests.support.visitor import NewVisitor, Seen, Visitor

PASSWORD = "correct horse 7"


def asked(world: World, visitor: Visitor) -> Seen:
    shop = world.application("shop", client_name="Acme Shop", require_consent=True, client_uri="https://shop.example/")
    ada = world.person("ada@example.com")
    return visitor.asked_by(shop).press("Sign in", identifier=ada.email, password=PASSWORD)


def test_the_page_says_who_asks_for_what_in_human_words(world: World, visitor: Visitor) -> None:
    page = asked(world, visitor)
    assert page.heading == "Acme Shop asks for access"
    assert "shop.example" in page.text
    assert "See your email address" in page.text
    assert "ada@example.com" in page.text


def test_an_application_that_only_wants_to_know_who_it_is_says_so(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop", require_consent=True), world.person("ada@example.com")
    page = visitor.asked_by(shop, scope="openid").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert "Know that it is you" in page.text
    assert page.press("Allow").query["code"]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("See your full profile, your consents and your passkeys", "once you confirm it’s you")),
        ("de", ("Ihr vollständiges Profil, Ihre Einwilligungen", "nach Bestätigung Ihrer Identität")),
        ("ar", ("الاطلاع على ملفك الشخصي الكامل", "وبعد أن تؤكد هويتك")),
    ],
)
def test_access_to_the_account_is_worded(world: World, visitor: Visitor, language: str, words: tuple[str, str]) -> None:
    """Though the application did not ask for it by name."""
    shop, ada = (
        world.application("shop", require_consent=True, interface_access="full"),
        world.person("ada@example.com"),
    )
    visitor.asked_by(shop, scope="openid").press("Sign in", identifier=ada.email, password=PASSWORD)
    page = visitor.asked_by(shop, scope="openid", ui_locales=language)
    assert page.language == language
    assert [one for one in words if one not in page.text] == []


def test_no_application_asks_for_nothing(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", protocol="oauth", require_consent=True)
    ada = world.person("ada@example.com")
    page = visitor.asked_by(shop, scope=None).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.heading == "shop asks for access"
    assert "Know that it is you" in page.text


def test_allowing_returns_with_a_code(world: World, visitor: Visitor) -> None:
    assert asked(world, visitor).press("Allow").query["code"]


def test_denying_returns_without_one(world: World, visitor: Visitor) -> None:
    landed = asked(world, visitor).press("Do not allow")
    assert landed.query["error"] == "access_denied"
    assert "code" not in landed.query


def test_a_forged_yes_is_not_taken(world: World, visitor: Visitor, new_visitor: NewVisitor) -> None:
    page = asked(world, visitor)
    token = new_visitor().open("/login").form("Sign in").fields["token"]
    refused = page.press("Allow", token=token)
    assert refused.status == 403
    assert refused.heading == "Acme Shop asks for access"
    assert refused.press("Allow").query["code"]


def test_the_keyboard_comes_to_the_question_before_the_way_out(world: World, visitor: Visitor) -> None:
    """A link to the page itself, the answers, then the other account: the order of the document is the order of Tab."""
    shown = re.findall(r"<button[^>]*>(.*?)</button>", asked(world, visitor).html)
    assert shown == ["Allow", "Do not allow", "Not you? Use another account"]


def test_not_you_asks_who_you_are(world: World, visitor: Visitor) -> None:
    page = asked(world, visitor).press("Not you? Use another account")
    assert page.heading == "Welcome back"
    bob = world.person("bob@example.com")
    assert "bob@example.com" in page.press("Sign in", identifier=bob.email, password=PASSWORD).text


def test_a_page_without_attempt_starts_again(visitor: Visitor) -> None:
    assert visitor.open("/consent").status == 410
    assert visitor.open("/consent?attempt=unknown").status == 410


@pytest.mark.parametrize("logo", ["https://a.b;script-src-elem *;x/x.png", "https://[::1/x", "javascript:alert(1)"])
def test_a_logo_of_the_application_writes_nothing_into_the_policy(world: World, visitor: Visitor, logo: str) -> None:
    shop, ada = world.application("shop", require_consent=True, logo_uri=logo), world.person("ada@example.com")
    page = visitor.asked_by(shop).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.answer is not None
    assert "img-src 'self' data:;" in page.answer.headers["Content-Security-Policy"]
    assert logo not in page.html


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "//evil.example/"])
def test_what_an_application_calls_its_links_is_drawn_only_where_it_leads_to_the_web(
    world: World, visitor: Visitor, address: str
) -> None:
    links = {"client_uri": address, "policy_uri": address, "tos_uri": address, "logo_uri": address}
    shop, ada = world.application("shop", require_consent=True, **links), world.person("ada@example.com")
    page = visitor.asked_by(shop)
    assert address not in page.html
    asked_for = page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert asked_for.heading.endswith("asks for access")
    assert address not in asked_for.html
