"""A thief who knew the password makes the account theirs, addresses included; the first alarm gives it back, whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from werkzeug.test import Client

from tests.support.customers import NEW, OLD, PATH, UNLIMITED, Customer, a_customer
from tests.support.mailbox import code_in, link_in, mails_to, token_in
from tests.support.tenant_server import MANAGE, NewTenantServer, answered, refused
from tests.support.visitor import Seen, Visitor

OWN, EMAIL, DELETE = "/identity/v2/auth/account", "/identity/v2/auth/email", "/identity/v2/auth/account/delete"
THIEF, LAST = "thief@evil.test", "other@evil.test"
NOT_ME, SAVE, MINE = "It was not me: close the account to others", "Save the new password", "Amber-window-44"


@dataclass
class Theft:
    """The owner's account, and what the thief did with it."""

    c: Customer
    hub: Flask
    bearer: str = ""
    refresh: str = ""
    links: dict[str, str] = field(default_factory=dict)

    def browser(self) -> Visitor:
        return Visitor(Client(self.hub), self.c.tenant.services.settings.hub_url(self.c.tenant.name))

    def mails(self, to: str) -> list[dict[str, Any]]:
        return mails_to(self.c.tenant.services, self.c.tenant.tenant_id, to)

    def alarms(self, to: str) -> list[str]:
        return [link_in(one) for one in self.mails(to) if "/not-me?" in str(one["text"])]

    def own(self, method: str, path: str, body: object = None) -> Any:
        return self.c.tenant.send(method, path, body, bearer=self.bearer)

    def adds(self, address: str) -> None:
        """Add an address, and prove it."""
        answered(self.own("POST", EMAIL, {"email": address, "type": "Secondary"}))
        token = token_in(self.mails(address)[-1])
        answered(self.c.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=token))

    def opens(self, link: str, visitor: Visitor | None = None) -> Seen:
        parts = urlsplit(link)
        return (visitor or self.browser()).open(f"{parts.path}?{parts.query}")

    def taken_back(self, alarm: str) -> None:
        """The owner says that it was not her, and sets a password by the mail that she gets."""
        owner = self.browser()
        assert self.opens(alarm, owner).press(NOT_ME).heading == "Check your mail"
        done = self.opens(link_in(self.mails(self.c.email)[-1]), owner).press(SAVE, password=MINE)
        assert "Your password is changed" in done.text


@pytest.fixture
def theft(new_tenant_server: NewTenantServer, hub_app: Flask) -> Theft:
    questions = {"security_questions": {"pet": "First pet?"}, "phone_login": True}
    c = a_customer(new_tenant_server, **questions, limits=UNLIMITED)
    held = answered(c.logs_in())
    return Theft(c, hub_app, held["access_token"], held["refresh_token"])


def first_address(theft: Theft) -> None:
    """On the pages, as the interface's operations make no other address the first."""
    thief = theft.browser()
    thief.open("/profile").press("Sign in", identifier=theft.c.email, password=OLD, remember="y")
    page = thief.open("/emails").press("Make main", address=THIEF, action="primary")
    page.press("Yes, make it the main one")


def removal(theft: Theft) -> None:
    answered(theft.own("DELETE", EMAIL, {"email": theft.c.email}))


def password(theft: Theft) -> None:
    answered(theft.own("PUT", f"{PATH}/change", {"oldpassword": OLD, "newpassword": NEW}))


def answer(theft: Theft) -> None:
    answered(theft.own("PUT", OWN, {"SecurityQuestionAnswer": {"pet": "a thief's own"}}))


ORDERS = {
    "the address last": [answer, password, removal],
    "the address first": [answer, removal, password],
    "another first address": [answer, first_address, password],
    "the password first": [password, answer, removal],
}


@pytest.mark.parametrize("number", [0, -1])
@pytest.mark.parametrize("order", ORDERS)
def test_whatever_the_thief_did_the_owner_alone_gets_in(theft: Theft, order: str, number: int) -> None:
    """By the first of her alarms as by the last; the address that the thief added was proved before all else."""
    c = theft.c
    theft.adds(THIEF)
    for step in ORDERS[order]:
        step(theft)
    answered(theft.own("POST", EMAIL, {"email": LAST, "type": "Secondary"}))
    pending = token_in(theft.mails(LAST)[-1])
    answered(c.ask("POST", {"email": THIEF}))
    reset = token_in(theft.mails(THIEF)[-1])
    sessions = theft.browser()
    sessions.open("/profile").press("Sign in", identifier=THIEF, password=NEW, remember="y")

    theft.taken_back(theft.alarms(c.email)[number])

    assert sessions.open("/profile").heading == "Welcome back"
    assert refused(theft.own("GET", OWN)) == (401, 1409)
    assert refused(c.tenant.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=theft.refresh))[0] == 403
    assert refused(c.reset(resettoken=reset, password=NEW))[0] == 403
    assert refused(c.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=pending))[0] == 403
    mails = len(theft.mails(THIEF))
    assert refused(c.ask("POST", {"email": THIEF})) == (403, 938)
    assert len(theft.mails(THIEF)) == mails
    for known, word in ((THIEF, NEW), (c.email, NEW), (c.email, OLD)):
        assert refused(c.ask("POST", {"email": known, "password": word}, path="/identity/v2/auth/login"))[0] != 200
    by_answer = {"username": c.username, "password": NEW, "securityanswer": {"pet": "a thief's own"}}
    assert refused(c.ask("PUT", by_answer, path=f"{PATH}/securityanswer")) == (403, 1092)
    assert [theft.opens(one).heading for one in theft.alarms(THIEF)] == ["This link no longer works"] * len(
        theft.alarms(THIEF)
    )
    held = c.tenant.read(c.uid)
    assert [(one["Type"], one["Value"]) for one in held["Email"]] == [("Primary", c.email)]
    assert (held["EmailVerified"], held["UnverifiedEmail"], held["PhoneId"]) == (True, None, None)
    answered(c.logs_in(MINE))


def test_the_earlier_alarm_ends_the_later_but_not_the_other_way_round(theft: Theft) -> None:
    theft.adds(THIEF)
    first_address(theft)
    theft.bearer = answered(theft.c.logs_in())["access_token"]
    password(theft)
    theft.opens(theft.alarms(THIEF)[-1]).press(NOT_ME)
    assert theft.c.tenant.read(theft.c.uid)["Email"][0]["Value"] == THIEF, "the thief's mailbox was told, too"
    theft.taken_back(theft.alarms(theft.c.email)[0])
    answered(theft.c.logs_in(MINE))


def test_an_alarm_outlives_its_address_for_a_week(theft: Theft) -> None:
    theft.adds(THIEF)
    removal(theft)
    link, clock = theft.alarms(theft.c.email)[-1], theft.c.tenant.services.clock
    clock.advance(days=6, hours=23)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    assert theft.opens(link).heading == "Was it somebody else?"
    clock.advance(hours=2)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    over = theft.opens(link)
    assert over.heading == "This link no longer works"
    assert "not open to this address any more" in over.text
    assert "/forgot-password" not in over.html


def test_an_own_reset_ends_the_alarms_before_it(theft: Theft) -> None:
    password(theft)
    answered(theft.c.reset(resettoken=theft.c.token(), password=MINE))
    first, second = theft.alarms(theft.c.email)
    assert theft.opens(first).heading == "This link no longer works"
    assert "Set a new password instead" in theft.opens(first).text
    assert theft.opens(second).heading == "Was it somebody else?"


def test_while_another_address_is_first_a_reset_leaves_the_alarm(theft: Theft) -> None:
    """Else the owner would lose the only way to put the thief's address out."""
    theft.adds(THIEF)
    first_address(theft)
    answered(theft.c.reset(resettoken=theft.c.token(), password="Velvet-anchor-65"))
    theft.taken_back(theft.alarms(theft.c.email)[0])
    assert [one["Value"] for one in theft.c.tenant.read(theft.c.uid)["Email"]] == [theft.c.email]


def test_an_account_that_only_names_the_address_gives_it_back(theft: Theft) -> None:
    theft.adds(THIEF)
    removal(theft)
    other = theft.c.tenant.create(UserName="squatter", Email=[{"Type": "Primary", "Value": theft.c.email}])
    theft.taken_back(theft.alarms(theft.c.email)[-1])
    answered(theft.c.logs_in(MINE))
    held = theft.c.tenant.read(other["Uid"])
    assert (held["Email"], held["EmailVerified"]) == ([], False)


def test_an_address_that_another_account_proved_meanwhile_stays_there(theft: Theft) -> None:
    theft.adds(THIEF)
    removal(theft)
    address = [{"Type": "Primary", "Value": theft.c.email}]
    other = theft.c.tenant.create(UserName="again", Email=address, EmailVerified=True)
    page = theft.opens(theft.alarms(theft.c.email)[-1]).press(NOT_ME)
    assert page.heading == "Choose a new password", "no mail goes to an address that is another account's"
    page.press(SAVE, password=MINE)
    assert theft.c.tenant.read(other["Uid"])["EmailVerified"] is True
    held = theft.c.tenant.read(theft.c.uid)
    assert (held["Email"], [one["Value"] for one in held["UnverifiedEmail"]]) == ([], [theft.c.email])
    assert refused(theft.own("GET", OWN)) == (401, 1409)


def test_what_was_sent_to_a_number_or_an_address_that_is_gone_opens_nothing(theft: Theft) -> None:
    """Even where nothing closed it: the account's own columns decide."""
    c = theft.c
    token, code = c.token(), code_in(c.mails()[-1])
    answered(c.ask("POST", {"phone": c.phone}, path=f"{PATH}/otp"))
    texted = c.texted()
    answered(theft.own("DELETE", OWN))
    deletion = token_in(c.mails()[-1])
    c.lives(phone="+4930000001", email=THIEF, emails=[{"Type": "Primary", "Value": THIEF, "verified": True}])
    assert refused(c.reset(resettoken=token, password=NEW)) == (403, 975)
    assert theft.browser().open(f"/reset-password?vtoken={token}").heading == "This link no longer works"
    assert refused(c.reset(username=c.username, otp=code, password=NEW)) == (403, 1188)
    by_text = {"phone": c.phone, "otp": texted, "password": NEW}
    assert refused(c.ask("PUT", by_text, path=f"{PATH}/otp")) == (403, 1070)
    assert refused(c.tenant.send("GET", DELETE, with_secret=False, deletetoken=deletion)) == (403, 975)
    answered(c.ask("POST", {"username": c.username, "password": OLD}, path="/identity/v2/auth/login"))


def test_of_many_uses_of_one_alarm_one_wins(theft: Theft) -> None:
    password(theft)
    link = theft.alarms(theft.c.email)[-1]
    pages = [theft.opens(link) for _ in range(50)]
    press: Callable[[Seen], str] = lambda page: page.press(NOT_ME).heading  # noqa: E731 - a name for its type
    with ThreadPoolExecutor(16) as pool:
        counted = Counter(pool.map(press, pages))
    assert counted == {"Check your mail": 1, "This was done already": 49}
    assert len([one for one in theft.mails(theft.c.email) if "Take your account back" in str(one["text"])]) == 1
