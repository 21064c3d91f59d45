"""Messages hold the required text in every language, and names in them are harmless."""

import re
from html.parser import HTMLParser

import pytest

from app.contract.branding import Brand
from app.contract.messages import MailKind, SmsKind
from app.identity.messaging import gsm7
from app.identity.messaging.message import Branding, Facts, RenderedMessage, one_line, safe_name
from app.identity.messaging.rendering import format_duration, render
from app.identity.messaging.samples import EMAIL_SAMPLES, SMS_SAMPLES
from app.identity.messaging.text_message import render_sms
from app.kit.languages import LANGUAGES

LOOK = Branding(
    "Acme", Brand(color="#ffd400", signature="Acme Platform", links={"privacy": "https://acme.example/privacy"})
)
EVERY_MAIL = [
    pytest.param(kind, state, tag, id=f"{kind.name} {state} {tag}")
    for kind, states in EMAIL_SAMPLES.items()
    for state in states
    for tag in LANGUAGES
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
        held = dict(attrs)
        self.tags.add(tag)
        if tag == "html":
            self.root = held
        self.addresses += [held["href"] or ""] if tag == "a" else []
        self.pictures += [held["src"] or ""] if tag == "img" else []

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def drawn(kind: MailKind, state: str, tag: str) -> tuple[Facts, RenderedMessage, Read]:
    facts = EMAIL_SAMPLES[kind][state]
    message = render(kind, LOOK, facts, LANGUAGES[tag])
    return facts, message, Read(message.html)


def test_every_kind_has_samples() -> None:
    assert set(EMAIL_SAMPLES) == set(MailKind)
    assert set(SMS_SAMPLES) == set(SmsKind)


@pytest.mark.parametrize(("kind", "state", "tag"), EVERY_MAIL)
def test_both_parts_of_every_mail_hold_the_required_text(kind: MailKind, state: str, tag: str) -> None:
    facts, message, read = drawn(kind, state, tag)
    assert "Acme" in message.subject
    assert "\n" not in message.subject
    for must in filter(None, (facts.otp, facts.url, facts.name)):
        assert must in message.text
        assert must in read.text
    assert read.addresses.count(facts.url) == (2 if facts.url else 0)
    assert (read.root["lang"], read.root["dir"]) == (tag, LANGUAGES[tag].direction)
    assert not re.search(r"%\(|\{\{|None|\n\n\n", message.text)


@pytest.mark.parametrize(("kind", "state", "tag"), EVERY_MAIL)
def test_mail_loads_no_resource_and_runs_no_script(kind: MailKind, state: str, tag: str) -> None:
    _, message, read = drawn(kind, state, tag)
    assert read.pictures == []
    assert not read.tags & {"script", "form", "iframe", "link", "object"}
    assert "data:" not in message.html
    assert "url(" not in message.html


@pytest.mark.parametrize("kind", MailKind)
def test_every_language_has_its_own_text(kind: MailKind) -> None:
    state = next(iter(EMAIL_SAMPLES[kind]))
    texts = [drawn(kind, state, tag)[1] for tag in LANGUAGES]
    assert len({message.subject for message in texts}) == len(LANGUAGES)
    paragraphs = [{line for line in message.text.splitlines() if len(line.split()) > 4} for message in texts]
    assert set.intersection(*paragraphs) == set()


def test_logo_without_https_is_left_out() -> None:
    facts = EMAIL_SAMPLES[MailKind.WELCOME]["notice"]
    for logo, pictures in (
        ("https://acme.example/logo.png", ["https://acme.example/logo.png"]),
        ("data:image/png;base64,AAAA", []),
        (None, []),
    ):
        look = Branding("Acme", Brand.model_construct(**{**Brand().model_dump(), "logo": logo}))
        assert Read(render(MailKind.WELCOME, look, facts, LANGUAGES["en"]).html).pictures == pictures


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


def test_long_name_is_cut() -> None:
    assert len(one_line("n" * 10_000, 60)) == 60


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("kind", SmsKind)
def test_sms_starts_with_the_code_and_ends_with_the_origin_line(kind: SmsKind, tag: str) -> None:
    (facts,) = SMS_SAMPLES[kind].values()
    text = render_sms(kind, "Acme", facts, LANGUAGES[tag], "acme.example.com:8000")
    if facts.otp:
        assert text.startswith(facts.otp)
        assert text.splitlines()[-1] == f"@acme.example.com #{facts.otp}"
    assert gsm7.fits(text) == (tag != "ar")
    assert gsm7.count_parts(text) <= (1 if tag != "ar" else 2)


def test_name_in_another_script_stays_outside_gsm7() -> None:
    assert "Ακμή" in render_sms(SmsKind.WELCOME, "Ακμή", Facts(to=""), LANGUAGES["en"], "h")
    assert gsm7.simplify("Café “Łódź” – ok") == "Café “Łódź” – ok"
    assert gsm7.simplify("“Châlet” – ok…") == '"Chalet" - ok...'


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(1, "1 minute"), (5, "5 minutes"), (60, "1 hour"), (90, "90 minutes"), (1440, "24 hours"), (4320, "3 days")],
)
def test_durations_are_formatted_for_people(minutes: int, words: str) -> None:
    assert format_duration(minutes, "en") == words
