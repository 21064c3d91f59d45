"""Messages hold the required text in every language, and names in them are harmless."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest

from app.contract.messages.models import MailKind, SmsKind
from app.contract.tenants.branding import Brand
from app.identity.messaging import gsm7
from app.identity.messaging.message import Branding, MessageFacts, RenderedMessage, one_line, safe_name
from app.identity.messaging.rendering import render
from app.identity.messaging.samples import EMAIL_SAMPLES, SMS_SAMPLES
from app.identity.messaging.text_message import render_sms
from app.kit.design.colour import Colour
from app.kit.text.languages import LANGUAGES, catalogue

LOOK = Branding(
    "Acme", Brand(color="#ffd400", signature="Acme Platform", links={"privacy": "https://acme.example/privacy"})
)
_ALERT = "https://acme.example.com/n/"
ALERTS = [
    kind for kind, states in EMAIL_SAMPLES.items() if any(state.url.startswith(_ALERT) for state in states.values())
]


class Read(HTMLParser):
    """What a person and a mail program find in the HTML part."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.addresses: list[str] = []
        self.pictures: list[str] = []
        self.root: dict[str, str | None] = {}
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        stored = dict(attrs)
        self.tags.add(tag)
        if tag == "html":
            self.root = stored
        self.addresses += [stored["href"] or ""] if tag == "a" else []
        self.pictures += [stored["src"] or ""] if tag == "img" else []

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@cache
def drawn(kind: MailKind, state: str, tag: str) -> tuple[MessageFacts, RenderedMessage, Read]:
    facts = EMAIL_SAMPLES[kind][state]
    message = render(kind, LOOK, facts, LANGUAGES[tag])
    return facts, message, Read(message.html)


def test_every_kind_has_samples() -> None:
    assert set(EMAIL_SAMPLES) == set(MailKind)
    assert set(SMS_SAMPLES) == set(SmsKind)


Check = Callable[[MailKind, str, str], None]


def of_every_mail(check: Check) -> Callable[[MailKind], None]:
    """Check each state of a kind in each language; the failure names the first that fails."""

    @pytest.mark.parametrize("kind", MailKind, ids=lambda kind: kind.name)
    def test_kind(kind: MailKind) -> None:
        for state in EMAIL_SAMPLES[kind]:
            for tag in LANGUAGES:
                try:
                    check(kind, state, tag)
                except Exception as failure:
                    failure.add_note(f"The mail is {kind.name} {state} {tag}.")
                    raise

    return test_kind


@of_every_mail
def test_both_parts_of_every_mail_hold_the_required_text(kind: MailKind, state: str, tag: str) -> None:
    facts, message, read = drawn(kind, state, tag)
    assert "Acme" in message.subject
    assert "\n" not in message.subject
    for must in filter(None, (facts.otp, facts.to)):
        assert must in message.text
        assert must in read.text
    assert facts.url in message.text
    assert read.addresses.count(facts.url) == (1 if facts.url else 0)
    assert message.html.count('<a class="on"') == (1 if facts.url else 0)
    assert (read.root["lang"], read.root["dir"]) == (tag, LANGUAGES[tag].direction)
    assert not re.search(r"%\(|\{\{|None|\n\n\n", message.text)


@of_every_mail
def test_mail_loads_no_resource_and_runs_no_script(kind: MailKind, state: str, tag: str) -> None:
    facts, message, read = drawn(kind, state, tag)
    assert read.pictures == list(filter(None, [facts.organization_logo]))
    assert not read.tags & {"script", "form", "iframe", "link", "object"}
    assert "data:" not in message.html
    assert "url(" not in message.html


@of_every_mail
def test_preview_line_adds_to_subject_and_heading(kind: MailKind, state: str, tag: str) -> None:
    _, message, _ = drawn(kind, state, tag)
    preview, heading = (
        " ".join(re.sub(r"<[^>]+>|&zwnj;|&nbsp;", "", part).split())
        for part in re.findall(r'aria-hidden="true">(.*?)</div>|<h1[^>]*>(.*?)</h1>', message.html, re.DOTALL)
        for part in part
        if part
    )
    assert len(preview) > 12
    assert preview not in (heading, message.subject)
    if kind in ALERTS and tag == "en":
        assert preview.startswith("If this wasn’t you, ")


@pytest.mark.parametrize("kind", ALERTS)
def test_alert_names_browser_place_time_and_lifetime(kind: MailKind) -> None:
    facts, message, _ = drawn(kind, next(state for state in EMAIL_SAMPLES[kind] if state != "notice"), "en")
    origin = "Changed in Chrome on Linux near Berlin, Nov 22, 2026, 15:40 UTC."
    assert (origin in message.text) == (not facts.device)
    assert "secure your account within 7 days" in message.text
    later = replace(facts, minutes=2 * 24 * 60)
    assert "within 2 days" in render(kind, LOOK, later, LANGUAGES["en"]).text


def test_mail_of_an_unknown_browser_names_no_origin() -> None:
    facts = replace(EMAIL_SAMPLES[MailKind.RESET]["link"], browser="")
    assert "Requested from" not in render(MailKind.RESET, LOOK, facts, LANGUAGES["en"]).text


@pytest.mark.parametrize(
    ("change", "subject", "sentence"),
    [
        ("added", "An email address was added to your Acme account", "was just added to your Acme account."),
        ("removed", "An email address was removed from your Acme account", "was just removed from your Acme account."),
        ("primary", "The primary email for your Acme account was changed", "is now the primary email for your Acme"),
    ],
)
def test_mail_names_the_change_of_an_email(change: str, subject: str, sentence: str) -> None:
    _, message, _ = drawn(MailKind.EMAIL_CHANGED, change, "en")
    assert message.subject == subject
    assert f"lovelace@example.org {sentence}" in message.text


def test_deletion_mail_names_the_last_day() -> None:
    assert "will be deleted on December 22, 2026." in drawn(MailKind.ACCOUNT_LEAVES, "link", "en")[1].text
    assert "am 22. Dezember 2026 gelöscht" in drawn(MailKind.ACCOUNT_LEAVES, "link", "de")[1].text


@pytest.mark.parametrize("colour", ["#3b49d9", "#ffd400", "#7fdb3c", "#000000", "#ffffff", "#c8102e"])
def test_mail_text_has_contrast_in_both_modes(colour: str) -> None:
    html = render(
        MailKind.SIGN_IN,
        Branding("Acme", Brand(color=colour)),
        EMAIL_SAMPLES[MailKind.SIGN_IN]["link"],
        LANGUAGES["en"],
    ).html
    dark = dict(re.findall(r"\n\.(\w+)[^\n{]*\{ ((?:background|color): #\w{6})", html))
    light = {
        name: re.findall(r"(?<![-\w])(background|color):(#\w{6})", style)
        for name, style in re.findall(r'class="(\w+)[^"]*"[^>]*? style="([^"]*)"', html)
    }
    for text, ground in (("ink", "card"), ("muted", "card"), ("on", "fill"), ("muted", "ground")):
        pairs = (
            (dict(light[text])["color"], dict(light[ground])["background"]),
            (
                dark[text].partition(": ")[2],
                dark[ground].partition(": ")[2],
            ),
        )
        for front, back in pairs:
            assert Colour.parse(front).contrast(Colour.parse(back)) >= 4.5, (text, ground, front, back)
    assert "[data-ogsc] .card" in html


@pytest.mark.parametrize("kind", MailKind)
def test_every_language_has_its_own_text(kind: MailKind) -> None:
    state = next(iter(EMAIL_SAMPLES[kind]))
    texts = [drawn(kind, state, tag)[1] for tag in LANGUAGES]
    assert len({message.subject for message in texts}) == len(LANGUAGES)
    paragraphs = [{line for line in message.text.splitlines() if len(line.split()) > 4} for message in texts]
    assert set.intersection(*paragraphs) == set()


def test_logo_that_mails_cannot_show_leaves_the_name_alone() -> None:
    facts = EMAIL_SAMPLES[MailKind.WELCOME]["notice"]
    for logo, pictures, has_built_in_mark in (
        ("https://acme.example/logo.png", ["https://acme.example/logo.png"], False),
        ("/theme/logo.png", ["https://acme.example.com/theme/logo.png"], False),
        ("https://acme.example/logo.svg?v=2", [], False),
        ("/theme/logo.svg", [], False),
        ("data:image/png;base64,AAAA", [], False),
        (None, [], True),
    ):
        look = Branding("Acme", Brand(logo=logo), "https://acme.example.com")
        html = render(MailKind.WELCOME, look, facts, LANGUAGES["en"]).html
        assert Read(html).pictures == pictures
        assert ('class="gate"' in html) is has_built_in_mark, logo
        assert ">Acme</td>" in html


def test_dark_logo_does_not_replace_one_that_mails_cannot_show() -> None:
    dark = "https://acme.example/dark.png"
    assert (Branding("A", Brand(logo="data:image/png;base64,AAAA", logo_dark=dark)).logo) == ""
    assert Branding("A", Brand(logo_dark=dark)).logo == dark


@pytest.mark.parametrize(
    "name",
    ["x\r\nBcc: eve@example.com", "Ad\u202ea", "a" * 10_000, "<script>alert(1)</script>", "%(name)s {{ 7 * 7 }} #Url#"],
)
def test_tenant_name_cannot_break_the_subject_line(name: str) -> None:
    message = render(MailKind.RESET, Branding(name, Brand()), EMAIL_SAMPLES[MailKind.RESET]["link"], LANGUAGES["en"])
    assert not re.search(r"[\r\n\u202a-\u202e\u2066-\u2069]", message.subject)
    assert len(message.subject) <= 150
    assert "<script" not in message.html
    assert "49" not in message.subject


@pytest.mark.parametrize(
    ("name", "greeting"),
    [
        ("Ada", "Ada"),
        ("Ada\r\nBcc: eve", "Ada Bcc: eve"),
        ("\u202eadA", "adA"),
        ("Zoë \u0000Q", "Zoë Q"),
        ("J. R. Smith", "J. R. Smith"),
        ("win at evil.example", ""),
        ("https://evil.example", ""),
        ("x@evil", ""),
        ("Win at win24.com", ""),
        ("goo9.gl", ""),
        ("evil\u3002com", ""),
        ("evil\u2024com", ""),
        ("evil\uff0ecom", ""),
        ("evil\uff61com", ""),
        ("ev\u200dil.\u200dcom", ""),
        ("\uff45vil\uff0ecom", ""),
        ("a.xn--p1ai", ""),
        ("1.2.3.4", ""),
        ("Room 4.5", "Room 4.5"),
        ("#Url#", "#Url#"),
        (None, ""),
    ],
)
def test_name_with_an_address_is_left_out_of_the_greeting(name: str | None, greeting: str) -> None:
    assert safe_name(name) == greeting


@pytest.mark.parametrize(
    "to",
    [
        "100%25@example.com", "%(otp)s@example.com", "%s@example.com", "{{to}}@example.com", "a'b&c@example.com", "<b>@example.com",
        "jürgen@example.com", '"a  b"@example.com', "אב@example.com",
    ],
)  # fmt: skip
def test_recipient_is_written_as_it_is(to: str) -> None:
    facts = replace(EMAIL_SAMPLES[MailKind.VERIFICATION]["link and code"], to=to, email=to)
    for tag in LANGUAGES:
        message = render(MailKind.VERIFICATION, LOOK, facts, LANGUAGES[tag])
        read, shown = Read(message.html), " ".join(to.split())
        assert shown in message.text
        assert read.text.count(shown) == 2, read.text
        assert read.tags & {"b"} == set()


@pytest.mark.parametrize("kind", MailKind)
def test_mail_holds_nothing_of_the_mail_before(kind: MailKind) -> None:
    names = (
        "to",
        "url",
        "otp",
        "email",
        "username",
        "organization",
        "inviter",
        "provider",
        "device",
        "browser",
        "place",
    )
    now = EMAIL_SAMPLES[MailKind.RESET]["link"].requested_at
    for owner, other in (("ada", "grace"), ("grace", "ada")):
        values: dict[str, Any] = {name: f"{name}-of-{owner}" for name in names}
        facts = MessageFacts(**values, minutes=60, factor="totp", change="added", requested_at=now)
        message = render(kind, LOOK, facts, LANGUAGES["en"])
        assert facts.to in message.html
        assert f"-of-{other}" not in message.subject + message.text + message.html


def test_mail_shows_a_changed_brand_at_once() -> None:
    facts = EMAIL_SAMPLES[MailKind.VERIFICATION]["link"]
    for name, colour, origin in (
        ("Acme", "#336699", "https://acme.example"),
        ("Other", "#336699", "https://acme.example"),
        ("Other", "#993366", "https://acme.example"),
        ("Other", "#993366", "https://other.example"),
    ):
        look = Branding(name, Brand(color=colour, logo="/theme/logo.png", signature=f"{name} {colour}"), origin)
        message = render(MailKind.VERIFICATION, look, facts, LANGUAGES["en"])
        assert message.subject == f"Verify your email for {name}"
        assert f"background:{colour}" in message.html
        assert Read(message.html).pictures == [f"{origin}/theme/logo.png"]
        assert f"{name} {colour}\n" in message.text


def test_long_name_is_cut() -> None:
    assert len(one_line("n" * 10_000, 60)) == 60


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("kind", SmsKind)
def test_sms_starts_with_the_code_and_ends_with_the_origin_line(kind: SmsKind, tag: str) -> None:
    (facts,) = SMS_SAMPLES[kind].values()
    text = render_sms(kind, "Acme", facts, catalogue(tag), "acme.example.com:8000")
    if facts.otp:
        assert text.startswith(facts.otp)
        assert text.splitlines()[-1] == f"@acme.example.com #{facts.otp}"
    assert gsm7.fits(text) == (tag != "ar")
    assert gsm7.measure(text).parts <= (1 if tag != "ar" else 2)


def test_name_in_another_script_stays_outside_gsm7() -> None:
    assert "Ακμή" in render_sms(SmsKind.WELCOME, "Ακμή", MessageFacts(to=""), catalogue("en"), "h")
    assert gsm7.simplify("Café “Łódź” – ok") == "Café “Łódź” – ok"
    assert gsm7.simplify("“Châlet” – ok…") == '"Chalet" - ok...'


@pytest.mark.parametrize(
    ("state", "sentence"),
    [("link and code", "The code works for 5 minutes, the link for 3 days."), ("link", "Expires in 3 days")],
)
def test_lifetimes_of_code_and_link_are_named_once(state: str, sentence: str) -> None:
    _, message, _ = drawn(MailKind.VERIFICATION, state, "en")
    parts = (message.text, message.html.partition("<h1")[2])
    unbroken = re.sub(r"(?<=\d) ", "\u00a0", sentence)
    assert [part.count(words) for part, words in zip(parts, (sentence, unbroken), strict=True)] == [1, 1]
    assert [len(re.findall("Expires in|works for", part)) for part in parts] == [1, 1]


NOTICES = (MailKind.USERNAME_CHANGED, MailKind.PIN_CHANGED, MailKind.PASSKEY_REMOVED)


@pytest.mark.parametrize("kind", NOTICES)
def test_notice_without_alert_link_leads_to_security(kind: MailKind) -> None:
    _, message, read = drawn(kind, "notice", "en")
    assert read.addresses.count("https://acme.example.com/security") == 1
    assert "Review account activity:\nhttps://acme.example.com/security\n" in message.text
    assert "If this wasn’t you, reset your password right away" in message.text
    assert "expires" not in message.text


def test_request_names_the_application_it_is_for() -> None:
    facts = replace(EMAIL_SAMPLES[MailKind.RESET]["link"], application="Acme Shop")
    origin = "from Chrome on Linux near Berlin, Nov 22, 2026, 15:40 UTC."
    assert f"Requested for Acme Shop {origin}" in render(MailKind.RESET, LOOK, facts, LANGUAGES["en"]).text
    without = render(MailKind.RESET, LOOK, replace(facts, application=""), LANGUAGES["en"]).text
    assert f"Requested {origin}" in without


def test_logos_of_theme_files_are_absolute() -> None:
    brand = Brand(logo="/theme/logo.png", logo_dark="/theme/dark.png?v=2")
    look = Branding("Acme", brand, "https://acme.example.com")
    html = render(MailKind.WELCOME, look, EMAIL_SAMPLES[MailKind.WELCOME]["link"], LANGUAGES["en"]).html
    assert '<source srcset="https://acme.example.com/theme/dark.png?v=2" media="(prefers-color-scheme:dark)">' in html
    assert '<img src="https://acme.example.com/theme/logo.png"' in html
    assert (look.logo, Branding("Acme", brand).logo) == ("https://acme.example.com/theme/logo.png", "")
    assert Branding("Acme", Brand(logo="/theme/logo.svg"), "https://acme.example.com").logo == ""
