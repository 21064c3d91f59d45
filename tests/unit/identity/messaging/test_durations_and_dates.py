"""Durations and dates in mails: words of the language, and no line that ends inside one."""

import pytest

from app.contract.messages.models import MailKind
from app.contract.tenants.branding import Brand
from app.identity.messaging.message import Branding, RenderedMessage
from app.identity.messaging.rendering import format_duration, render
from app.identity.messaging.samples import EMAIL_SAMPLES
from app.kit.text.languages import LANGUAGES, catalogue

LOOK = Branding("Acme", Brand())


def mail(kind: MailKind, tag: str = "en") -> RenderedMessage:
    return render(kind, LOOK, EMAIL_SAMPLES[kind]["link"], LANGUAGES[tag])


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(1, "1 minute"), (5, "5 minutes"), (60, "1 hour"), (90, "90 minutes"), (1440, "24 hours"), (4320, "3 days")],
)
def test_durations_are_formatted_for_people(minutes: int, words: str) -> None:
    assert format_duration(minutes, catalogue("en")) == words


def test_german_duration_is_dative() -> None:
    """Every sentence has it after `in` or `innerhalb von`."""
    assert format_duration(3 * 24 * 60, catalogue("de")) == "3 Tage"


def test_no_line_of_a_mail_ends_inside_a_date() -> None:
    reset, leaves = mail(MailKind.RESET), mail(MailKind.ACCOUNT_LEAVES)
    assert "Nov\u00a022,\u00a02026, 15:40\u00a0UTC." in reset.html
    assert "December\u00a022,\u00a02026" in leaves.html
    assert "\u00a0" not in reset.text + leaves.text


def test_arabic_mail_separates_day_and_time_in_arabic() -> None:
    text = mail(MailKind.RESET, "ar").text
    assert "22 نوفمبر 2026، 15:40 UTC" in text
