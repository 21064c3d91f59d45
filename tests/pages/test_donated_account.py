"""An account that its maker lets somebody else have: the mailbox that is asked reads whose it is, and what that means."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.pages.test_taken_account import EMAIL, Theft
from tests.support.customers import UNLIMITED, a_customer
from tests.support.letterbox import link_in, mailed_to
from tests.support.oauth_world import World
from tests.support.tenant_server import NewTenantServer, answered
from tests.support.visitor import NewVisitor

HER = "her@example.test"
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
    new_visitor().open("/register").press("Create account", email=HER, password="Teapot-zebra-91")
    page = new_visitor().open(link_in(mailed_to(world.house, world.tenant_id, HER)[-1]))
    assert page.heading == "Is this your address?"
    assert "you want an account" in page.text
