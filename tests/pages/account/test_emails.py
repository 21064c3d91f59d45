"""The pages of email addresses: add, verify, make primary, remove."""

import re

import pytest

from app.hub.pages.account import emails
from tests.support.accounts.mailbox import links_in
from tests.support.journeys.account_pages import mails, signed_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.visitors.visitor import Visitor


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")


def test_address_is_added_made_primary_and_removed(world: World, visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/emails").follow("Add email")
    sent = page.press("Send email", email="countess@example.org")
    assert "countess@example.org" in sent.text
    code = re.findall(r"\b\d{6}\b", mails(world, "countess@example.org")[-1])[0]
    assert sent.press("Verify", code="000000" if code != "000000" else "111111").status == 403
    listed = sent.press("Verify", code=f"{code[:3]} {code[3:]}")
    assert "Email verified" in listed.text
    first = listed.press("Make primary", action="primary").press("Make primary")
    assert "Primary email changed" in first.text
    assert len(mails(world, "ada@example.com")) == 2
    for path in ("/profile", "/emails"):
        prompt = visitor.open(path).press("Remove", address="ada@example.com", action="remove")
        assert prompt.heading == "Remove this email?"
    left_page = prompt.press("Remove")
    assert "ada@example.com" not in left_page.text
    assert visitor.open("/profile").text.count("countess@example.org") == 2


def test_taken_address_answers_like_a_free_one(world: World, visitor: Visitor, ada: Person) -> None:
    world.person("grace@example.com")
    page = signed_in(visitor, ada, "/emails/add")
    taken = page.press("Send email", email="grace@example.com")
    free = page.press("Send email", email="other@example.com")
    assert (taken.status, taken.heading) == (free.status, free.heading)
    assert not links_in(mails(world, "grace@example.com")[-1])


@pytest.mark.parametrize(
    ("days", "language", "expected"),
    [
        (1, "en", "For 1 day, its link can be used"),
        (3, "en", "For 3 days, its link can be used"),
        (1, "de", "1 Tag lang"),
        (7, "de", "7 Tage lang"),
        (2, "ar", "خلال يومين"),
        (7, "ar", "خلال 7 أيام"),
        (30, "ar", "خلال 30 يوم"),
    ],
)
def test_address_change_names_days_to_undo_it(
    visitor: Visitor, ada: Person, monkeypatch: pytest.MonkeyPatch, days: int, language: str, expected: str
) -> None:
    monkeypatch.setattr(emails, "ALERT_LINK_DAYS", days)
    token = signed_in(visitor, ada, "/emails/add").form("Send email").fields
    visitor.language = language
    page = visitor.send("POST", f"{visitor.home}/emails", {**token, "address": ada.email, "action": "primary"})
    assert expected in page.text
