"""The page "check your mail" does not reveal registered addresses."""

from __future__ import annotations

import pytest

from tests.support.accounts.mailbox import links_in, mails_to
from tests.support.journeys.verification import ADA, wait
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

STRONG = "Zebra-kettle-91"
UNLIMITED = {"register_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=UNLIMITED)


class PendingRegistration:
    """A registration that waits for verification."""

    def __init__(self, world: World, visitor: Visitor, email: str) -> None:
        self.world, self.email = world, email
        self.page = visitor.open("/register").press("Create account", email=email, password=STRONG)

    def summary(self, seen: VisitedPage) -> tuple[int, str]:
        return seen.status, seen.comparable_text(but_for=self.email)

    def walk_through(self) -> list[tuple[int, str]]:
        """Use everything that the page offers; return status and text of each answer."""
        answers = [self.summary(self.page), self.summary(self.page.press("Resend email"))]
        wait(self.world, seconds=31)
        answers += [self.summary(self.page.press("Verify", code="000000")) for _ in range(7)]
        answers += [self.summary(self.page.press("Verify")), self.summary(self.page.press("Continue"))]
        for _ in range(8):
            answers.append(self.summary(self.page.press("Resend email")))
            wait(self.world, seconds=31)
        return [(status, "".join(letter for letter in text if not letter.isdigit())) for status, text in answers]


@pytest.mark.parametrize("is_second_time", [False, True])
def test_known_and_unknown_addresses_get_the_same_answers(
    world: World, new_visitor_at: NewVisitorAt, is_second_time: bool
) -> None:
    """The second time the unknown address has a pending account; both have received one mail by then."""
    world.person(ADA)
    for email in (ADA, "absent@example.com") if is_second_time else ():
        PendingRegistration(world, new_visitor_at(world), email)
    known = PendingRegistration(world, new_visitor_at(world), ADA).walk_through()
    unknown = PendingRegistration(world, new_visitor_at(world), "absent@example.com").walk_through()
    assert known == unknown
    assert {status for status, _ in known} >= {200, 403, 422, 429}


def test_owner_is_notified_by_mail_only(world: World, new_visitor_at: NewVisitorAt) -> None:
    world.person(ADA)
    pending = PendingRegistration(world, new_visitor_at(world), ADA)
    wait(world, seconds=31)
    pending.page.press("Resend email")
    mails = mails_to(world.services, world.tenant_id, ADA)
    assert len(mails) == 2
    assert not links_in(mails)
