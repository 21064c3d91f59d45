"""Check your mail tells nobody who has an account: the same text and status for every address."""

from __future__ import annotations

import pytest

from tests.pages.test_verification import ADA, wait
from tests.support.mailbox import mails_to
from tests.support.oauth_world import NewWorld, World
from tests.support.visitor import NewVisitorAt, Seen, Visitor

STRONG = "Zebra-kettle-91"
UNLIMITED = {"register_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=UNLIMITED)


class Waiting:
    """Somebody who signed up with an address and looks at the page."""

    def __init__(self, world: World, visitor: Visitor, email: str) -> None:
        self.world, self.email = world, email
        self.page = visitor.open("/register").press("Create account", email=email, password=STRONG)

    def says(self, seen: Seen) -> tuple[int, str]:
        return seen.status, seen.says(but_for=self.email)

    def goes_through(self) -> list[tuple[int, str]]:
        """Do everything that the page offers; return what is said each time."""
        said = [self.says(self.page), self.says(self.page.press("Send another mail"))]
        wait(self.world, seconds=31)
        said += [self.says(self.page.press("Confirm", code="000000")) for _ in range(7)]
        said += [self.says(self.page.press("Confirm")), self.says(self.page.press("I have opened the link"))]
        for _ in range(8):
            said.append(self.says(self.page.press("Send another mail")))
            wait(self.world, seconds=31)
        return [(status, "".join(letter for letter in text if not letter.isdigit())) for status, text in said]


@pytest.mark.parametrize("comes_again", [False, True])
def test_every_answer_is_the_same_for_known_and_unknown_addresses(
    world: World, new_visitor_at: NewVisitorAt, comes_again: bool
) -> None:
    """The second time the unknown address has an account that waits to be confirmed; both have got one mail by then."""
    world.person(ADA)
    for email in (ADA, "nobody@example.com") if comes_again else ():
        Waiting(world, new_visitor_at(world), email)
    known = Waiting(world, new_visitor_at(world), ADA).goes_through()
    unknown = Waiting(world, new_visitor_at(world), "nobody@example.com").goes_through()
    assert known == unknown
    assert {status for status, _ in known} >= {200, 403, 422, 429}


def test_whoever_has_the_address_is_told_by_mail_alone(world: World, new_visitor_at: NewVisitorAt) -> None:
    world.person(ADA)
    waiting = Waiting(world, new_visitor_at(world), ADA)
    wait(world, seconds=31)
    waiting.page.press("Send another mail")
    mails = mails_to(world.services, world.tenant_id, ADA)
    assert len(mails) == 2
    assert "vtoken" not in str(mails)
