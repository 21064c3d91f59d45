"""A built-in mail that was kept for another recipient is as if nothing were kept, and nothing of a recipient is kept (decisions/0302)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.contract.branding import Brand
from app.contract.messages import MailKind
from app.identity.messaging import kept_mails, rendering
from app.identity.messaging.message import Branding, Facts, RenderedMessage
from app.identity.messaging.samples import EMAIL_SAMPLES
from app.kit.languages import LANGUAGES

ACME = Branding(
    "Acme & Söhne", Brand(color="#336699", links={"privacy": "https://acme.example/p"}), "https://acme.example"
)
GLOBEX = Branding("Globex", Brand(color="#993366", signature="100 % yours"), "https://globex.example")
AT = datetime(2026, 11, 22, 15, 40, tzinfo=UTC)
FORMER = Facts(
    "former@example.com",
    url="https://acme.example/former?a=1&b=2",
    otp="482913",
    minutes=60,
    email="former@example.com",
)
LATER = Facts(
    "later@example.com",
    url="https://acme.example/later?a=1&b=2",
    otp="999111",
    minutes=60,
    email="other+later@example.com",
)
HOSTILE = (
    "100%25@example.com",
    "%(otp)s@example.com",
    "%s@example.com",
    "a'b&c@example.com",
    "<b>@example.com",
    "%%@example.com",
)


@pytest.fixture(autouse=True)
def nothing_is_kept() -> Iterator[None]:
    kept_mails._kept.clear()
    yield
    kept_mails._kept.clear()


def alone(kind: MailKind, branding: Branding, facts: Facts, language: str) -> RenderedMessage:
    """Render a mail for itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_mails, "_is_word", lambda _: False)
        return rendering.render(kind, branding, facts, LANGUAGES[language])


def renders(kind: MailKind, branding: Branding, facts: Facts, language: str) -> None:
    assert rendering.render(kind, branding, facts, LANGUAGES[language]) == alone(kind, branding, facts, language)


def others(facts: Facts) -> Facts:
    """Return the facts of another recipient, of the same shape."""
    return replace(
        facts, to="grace@example.com", email=facts.email and "hopper@example.com", username=facts.username and "grace",
        url=facts.url and "https://acme.example.com/grace?x=1&y=2", otp=facts.otp and "000111", place="Arlington",
        asked_at=AT, system="", application="",
    )  # fmt: skip


@pytest.mark.parametrize("kind", EMAIL_SAMPLES)
def test_kept_mail_is_as_if_nothing_were_kept(kind: MailKind, subtests: pytest.Subtests) -> None:
    for language in LANGUAGES:
        with subtests.test(language):
            for facts in EMAIL_SAMPLES[kind].values():
                rendering.render(kind, ACME, others(facts), LANGUAGES[language])
                for each in (facts, replace(facts, browser="", asked_at=None)):
                    renders(kind, ACME, each, language)
                renders(kind, GLOBEX, facts, language)


def test_similar_mails_are_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rendering.render(MailKind.VERIFICATION, ACME, FORMER, LANGUAGES["en"])
    monkeypatch.setattr(rendering, "_template", lambda *_: pytest.fail("rendered again"))
    mail = rendering.render(MailKind.VERIFICATION, ACME, LATER, LANGUAGES["en"])
    assert "https://acme.example/later?a=1&amp;b=2" in mail.html
    assert "https://acme.example/later?a=1&b=2" in mail.text
    assert "former" not in mail.html + mail.text


def test_nothing_of_a_recipient_is_kept() -> None:
    for facts in (FORMER, replace(FORMER, otp="", browser="Firefox", place="Ockham", asked_at=AT, username="former")):
        for kind in (MailKind.VERIFICATION, MailKind.RESET):
            rendering.render(kind, ACME, facts, LANGUAGES["en"])
    kept = repr(list(kept_mails._kept._entries.items()))
    assert "Acme" in kept
    for text in ("former", "482913", "Ockham", "2026"):
        assert text not in kept


@pytest.mark.parametrize(
    "difference", [{"minutes": 61}, {"otp_minutes": 5}, {"otp": ""}, {"url": ""}, {"username": "x"}]
)
def test_mail_of_another_shape_is_another_mail(difference: dict[str, object]) -> None:
    rendering.render(MailKind.RESET, ACME, FORMER, LANGUAGES["en"])
    renders(MailKind.RESET, ACME, replace(LATER, **difference), "en")  # type: ignore[arg-type]  # of the case


@pytest.mark.parametrize("brand", [GLOBEX, replace(ACME, name="Other"), replace(ACME, origin="https://o.example")])
def test_change_of_the_brand_shows_at_once(brand: Branding) -> None:
    for each in (ACME, brand, replace(brand, brand=Brand(color="#111111", logo="/theme/logo.png"))):
        renders(MailKind.VERIFICATION, each, FORMER, "en")


@pytest.mark.parametrize("to", [*HOSTILE, "jürgen@example.com", '"a  b"@example.com', "אב@example.com"])
def test_recipient_is_written_as_it_is(to: str) -> None:
    rendering.render(MailKind.VERIFICATION, ACME, FORMER, LANGUAGES["ar"])
    for language in ("en", "ar"):
        renders(MailKind.VERIFICATION, ACME, replace(LATER, to=to, email=to), language)


@pytest.mark.parametrize("name", ["organization", "inviter", "device", "provider", "domain", "added_by"])
def test_mail_with_a_name_that_people_chose_is_not_kept(name: str) -> None:
    renders(MailKind.VERIFICATION, ACME, replace(FORMER, **{name: "Chosen"}), "en")  # type: ignore[arg-type]  # texts
    assert kept_mails._kept.values() == []
