"""An account that its maker lets somebody else have: the mailbox that is asked reads whose it is, and what that means."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.pages.test_taken_account import EMAIL, Theft, password, removal
from tests.support.customers import LOGIN, UNLIMITED, Customer, a_customer
from tests.support.mailbox import link_in, mails_to
from tests.support.oauth_world import World
from tests.support.tenant_server import NewTenantServer, answered, refused
from tests.support.visitor import NewVisitor

HER, TEAPOT = "her@example.test", "Teapot-zebra-91"
LANGUAGES = pytest.mark.parametrize(
    ("language", "asked"), [("en", "Is this your account?"), ("de", "Ist das Ihr Konto?")]
)


def whose(address: str) -> str:
    """As a stranger reads it: no address, and nothing that could be opened."""
    name, _, domain = address.partition("@")
    host, _, top = domain.rpartition(".")
    return f"{name[0]}***@{host[0]}***.{top}"


@pytest.fixture
def donation(new_tenant_server: NewTenantServer, hub_app: Flask) -> Theft:
    c = a_customer(new_tenant_server, limits=UNLIMITED)
    return Theft(c, hub_app, answered(c.logs_in())["access_token"])


@LANGUAGES
def test_mail_and_page_say_to_whose_account_an_address_would_be_added(
    donation: Theft,
    language: str,
    asked: str,
) -> None:
    answered(donation.own("POST", EMAIL, {"email": HER, "type": "Secondary"}))
    mail = donation.mails(HER)[-1]
    masked = whose(donation.c.email)
    for part in ("text", "html"):
        assert masked in str(mail[part])
        assert donation.c.email not in str(mail[part])
    page = donation.opens(f"{link_in(mail)}&lang={language}")
    assert page.heading == asked
    assert masked in page.text
    assert donation.c.email not in page.html
    if language == "en":
        assert "wants to add" in page.text
        assert "you want an account" not in page.text


def test_the_page_of_a_registration_speaks_of_one(hub_app: Flask, world: World, new_visitor: NewVisitor) -> None:
    new_visitor().open("/register").press("Create account", email=HER, password=TEAPOT)
    page = new_visitor().open(link_in(mails_to(world.services, world.tenant_id, HER)[-1]))
    assert page.heading == "Is this your address?"
    assert "you want an account" in page.text


MINE = "It was me"


def handed_over(donation: Theft) -> None:
    """The account is given away: another password, her address added and proved, his own removed."""
    password(donation)
    donation.adds(HER)
    removal(donation)
    her = Customer(donation.c.tenant, donation.c.uid, HER, donation.c.username)
    answered(her.reset(resettoken=her.token(), password=TEAPOT))


def test_an_account_is_given_away_for_good_once_its_former_mailbox_says_so(donation: Theft) -> None:
    handed_over(donation)
    links = donation.alarms(donation.c.email)
    done = donation.opens(links[-1]).press(MINE)
    assert done.heading == "All is as you left it"
    assert [donation.opens(one).heading for one in links] == ["This link no longer works"] * len(links)
    answered(donation.c.ask("POST", {"email": HER, "password": TEAPOT}, path=LOGIN))


def test_until_then_the_mailbox_may_take_it_back_as_a_thief_would_do_the_same(donation: Theft) -> None:
    """A password changed, an address added and proved, the first removed, a reset by the other: nothing of it tells a gift
    from a theft."""
    handed_over(donation)
    donation.taken_back(donation.alarms(donation.c.email)[0])
    assert refused(donation.c.ask("POST", {"email": HER, "password": TEAPOT}, path=LOGIN))[0] != 200


def test_what_comes_after_is_not_said_to_be_ones_own(donation: Theft) -> None:
    password(donation)
    donation.adds(HER)
    first, second = donation.alarms(donation.c.email)
    assert donation.opens(first).press(MINE).status == 200
    assert donation.opens(first).heading == "This link no longer works"
    donation.taken_back(second)


def test_to_look_at_the_page_says_nothing(donation: Theft) -> None:
    password(donation)
    (link,) = donation.alarms(donation.c.email)
    for _ in range(2):
        assert donation.opens(link).heading == "Was it somebody else?"
