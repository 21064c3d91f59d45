"""Language negotiation of the pages."""

import re
from html import unescape
from urllib.parse import urlencode

import pytest

from app.hub.locale import LANGUAGES, catalogue, lookup, negotiate, parse_accept_language
from app.identity.messaging.rendering import format_duration
from app.kit.clock import thread_cpu_seconds
from tests.support.oauth.world import World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import VisitedPage, Visitor

PASSWORD = "correct horse 7"


def test_accept_language_chooses_the_language(visitor: Visitor) -> None:
    visitor.language = "de-CH,fr;q=0.9"
    assert visitor.open("/login").heading.endswith(" anmelden")


def test_no_line_ends_after_the_hyphen_of_the_german_email(visitor: Visitor) -> None:
    visitor.language = "de"
    text = visitor.open("/register").text
    assert "E\u2011Mail-Adresse" in text
    assert "E-Mail" not in text


def test_ui_locales_beats_accept_language(world: World, visitor: Visitor) -> None:
    visitor.language = "de"
    page = visitor.authorize(world.application("shop"), ui_locales="xx ar-EG")
    assert page.language == "ar"


@pytest.mark.parametrize("tags", ["de_DE", "DE", "pt-BR de_AT", "zh_Hans_CN,de", "DE_de"])
def test_tags_are_read_alike_wherever_they_come_from(world: World, visitor: Visitor, tags: str) -> None:
    first = tags.replace(",", " ").split()[-1]
    assert visitor.authorize(world.application("shop"), ui_locales=tags).language == "de"
    for address in (f"/login?lang={first}", f"/login?language={first}"):
        other = Visitor(visitor.client.__class__(visitor.client.application), visitor.home, "en")
        assert other.open(address).language == "de"
        assert other.open("/login").language == "de", "the choice is remembered"
    visitor.language = first
    assert visitor.open("/forgot").language == "de"
    ada = world.person("ada@example.com", LocalLanguage=first)
    visitor.language = "en"
    assert visitor.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD).language == "de"


def test_clicked_language_wins_and_keeps_the_attempt(world: World, visitor: Visitor) -> None:
    page = visitor.authorize(world.application("shop", client_name="Acme Shop"), ui_locales="ar")
    chosen = page.follow("Deutsch")
    assert chosen.language == "de"
    assert chosen.form("Anmelden").fields["attempt"] == page.form("تسجيل الدخول").fields["attempt"]
    refused = chosen.press("Anmelden", identifier="a@b.c", password="x")
    assert refused.language == "de"
    assert visitor.open("/login").language == "de"


def test_account_language_beats_accept_language(world: World, visitor: Visitor) -> None:
    """On every page that knows the account."""
    ada = world.person("ada@example.com", LocalLanguage="de-AT")
    shop = world.application("shop", require_consent=True)
    page = visitor.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.language == "de"
    for address in ("/security", "/logout"):
        assert visitor.open(address).language == "de"
    assert visitor.authorize(shop).language == "de"
    pass_time(world.services, minutes=1)
    assert visitor.authorize(shop, prompt="login").heading == "Bestätigen Sie Ihre Identität"


def test_ui_locales_and_click_beat_account_language(world: World, visitor: Visitor) -> None:
    ada = world.person("ada@example.com", LocalLanguage="de")
    shop = world.application("shop", require_consent=True)
    visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert visitor.authorize(shop, ui_locales="ar").language == "ar"
    visitor.open("/profile?lang=ar")
    assert visitor.open("/security").language == "ar"


def test_unsupported_account_language_is_ignored(world: World, visitor: Visitor) -> None:
    ada = world.person("ada@example.com", LocalLanguage="Klingon, " * 50)
    visitor.language = "de"
    page = visitor.open("/profile").press("Anmelden", identifier=ada.email, password=PASSWORD)
    assert (page.status, page.language) == (200, "de")


def links(page: VisitedPage) -> list[str]:
    """Return the page's links to its other languages."""
    return [unescape(address) for address in re.findall(r'<li><a href="(\?[^"]*)" lang=', page.html)]


@pytest.mark.parametrize("query", [{"attempt": "x" * 5000}, {"anything": "x" * 5000}, {"lang": "x" * 5000}])
def test_language_links_drop_unknown_parameters(visitor: Visitor, query: dict[str, str]) -> None:
    for address in ("/login", "/nothing"):
        page = visitor.open(f"{address}?{urlencode(query)}")
        assert links(page) == ["?lang=de", "?lang=ar"]


def test_language_links_keep_known_parameters(world: World, visitor: Visitor) -> None:
    assert links(visitor.open("/consent?attempt=gone&other=x"))[0] == "?attempt=gone&lang=de"
    ada = world.person("ada@example.com")
    visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    refused = visitor.open("/profile?landing=refused")
    assert links(refused)[0] == "?landing=refused&lang=de"
    shown_page = visitor.open("/logout?state=mine&return_url=https://shop.example/")
    assert links(shown_page)[1] == "?state=mine&return_url=https%3A%2F%2Fshop.example%2F&lang=ar"
    page = visitor.open("/service/oidc/authorize?client_id=absent&redirect_uri=https://evil.example/&state=s")
    assert page.follow("Deutsch").heading == "App nicht gefunden"


def test_unsupported_language_is_ignored(visitor: Visitor) -> None:
    assert visitor.open("/login?lang=tlh").language == "en"
    assert visitor.cookies("language") == []


@pytest.mark.parametrize(
    ("tag", "found"),
    [
        ("de-CH-1996", "de"),
        ("DE", "de"),
        ("de_AT", "de"),
        ("de_DE.UTF-8", "de"),
        ("zh-Hant", None),
        ("", None),
        ("-", None),
        ("en-x-private", "en"),
        ("d", None),
    ],
)
def test_tag_is_looked_up_by_prefix(tag: str, found: str | None) -> None:
    assert lookup(tag, LANGUAGES) == found


def test_accept_language_drops_q_zero_and_sorts() -> None:
    assert parse_accept_language("fr;q=0.2, de;q=0.8, ar;q=0, en ;q=0.5, *;q=0.1, x;q=junk") == (
        "x",
        "de",
        "en",
        "fr",
    )


def test_tenant_default_is_the_last_fallback() -> None:
    assert negotiate([["xx"], [""]], ("ar", "en")).tag == "ar"
    assert negotiate([["de"]], ("ar", "en")).tag == "ar"


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (0, "لم يتبقَّ أي رمز احتياطي"),
        (1, "تبقّى رمز احتياطي واحد فقط"),
        (2, "تبقّى رمزان احتياطيان فقط"),
        (3, "تبقّت %(num)s رموز احتياطية فقط"),
        (11, "تبقّى %(num)s رمزًا احتياطيًا فقط"),
        (100, "تبقّى %(num)s رمز احتياطي فقط"),
    ],
)
def test_arabic_uses_its_six_plural_forms(count: int, sentence: str) -> None:
    item, many = "Only %(num)s backup code left", "Only %(num)s backup codes left"
    assert catalogue("ar").ungettext(item, many, count) == sentence


@pytest.mark.parametrize(("days", "sentence"), [(3, "3 أيام"), (14, "14 يومًا"), (100, "100 يوم")])
def test_arabic_day_counts_are_pluralised(days: int, sentence: str) -> None:
    assert format_duration(days * 24 * 60, catalogue("ar")) == sentence


def test_very_long_tag_is_looked_up_in_bounded_time() -> None:
    started = thread_cpu_seconds()
    assert lookup("de-" + "ab-" * 10_000, ["en", "de"]) == "de"
    assert thread_cpu_seconds() - started < 0.1, "the look-up must not be quadratic in the number of subtags"
