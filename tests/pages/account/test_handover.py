"""An account handed over to another person: mails and pages name the account, and the former owner can confirm."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.support.accounts.customers import LOGIN, UNLIMITED, Customer, a_customer
from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.journeys.account_takeover import EMAIL, Takeover, change_password, remove_owner_address
from tests.support.oauth.world import World
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitor

NEW_OWNER, NEW_PASSWORD = "her@example.test", "Teapot-zebra-91"
LANGUAGES = pytest.mark.parametrize(
    ("language", "heading"), [("en", "Is this your account?"), ("de", "Ist das Ihr Konto?")]
)


def masked_address(address: str) -> str:
    """Return the masked form of an address."""
    name, _, domain = address.partition("@")
    host, _, top = domain.rpartition(".")
    return f"{name[0]}***@{host[0]}***.{top}"


@pytest.fixture
def donation(new_tenant_server: NewTenantServer, hub_app: Flask) -> Takeover:
    c = a_customer(new_tenant_server, limits=UNLIMITED)
    return Takeover(c, hub_app, answered(c.logs_in())["access_token"])


@LANGUAGES
def test_mail_and_page_name_the_masked_account(
    donation: Takeover,
    language: str,
    heading: str,
) -> None:
    answered(donation.own("POST", EMAIL, {"email": NEW_OWNER, "type": "Secondary"}))
    mail = donation.mails(NEW_OWNER)[-1]
    masked = masked_address(donation.c.email)
    for part in ("text", "html"):
        assert masked in str(mail[part])
        assert donation.c.email not in str(mail[part])
    page = donation.open_link(f"{link_in(mail)}?lang={language}")
    assert page.heading == heading
    assert masked in page.text
    assert donation.c.email not in page.html
    if language == "en":
        assert "wants to add" in page.text
        assert "if you signed up for" not in page.text


def test_registration_link_page_speaks_of_registration(hub_app: Flask, world: World, new_visitor: NewVisitor) -> None:
    new_visitor().open("/register").press("Create account", email=NEW_OWNER, password=NEW_PASSWORD)
    page = new_visitor().open(link_in(mails_to(world.services, world.tenant_id, NEW_OWNER)[-1]))
    assert page.heading == "Verify your email"
    assert "if you signed up for" in page.text


OWN_CHANGE_BUTTON = "This was me"


def hand_over(donation: Takeover) -> None:
    """Hand the account over: change the password, add and verify her address, remove his."""
    change_password(donation)
    donation.add_address(NEW_OWNER)
    remove_owner_address(donation)
    her = Customer(donation.c.tenant, donation.c.uid, NEW_OWNER, donation.c.username)
    answered(her.reset(resettoken=her.token(), password=NEW_PASSWORD))


@pytest.mark.both_databases
def test_handover_is_final_after_former_mailbox_confirms(donation: Takeover) -> None:
    hand_over(donation)
    links = donation.alerts(donation.c.email)
    result = donation.open_link(links[-1]).press(OWN_CHANGE_BUTTON)
    assert result.heading == "Thanks for confirming"
    assert [donation.open_link(link).heading for link in links] == ["Link no longer works"] * len(links)
    answered(donation.c.ask("POST", {"email": NEW_OWNER, "password": NEW_PASSWORD}, path=LOGIN))


def test_unacknowledged_handover_can_be_reverted(donation: Takeover) -> None:
    """A theft makes exactly the same changes as a handover, so both can be reverted."""
    hand_over(donation)
    donation.revert(donation.alerts(donation.c.email)[0])
    assert refused(donation.c.ask("POST", {"email": NEW_OWNER, "password": NEW_PASSWORD}, path=LOGIN))[0] != 200


def test_confirming_one_change_does_not_confirm_later_ones(donation: Takeover) -> None:
    change_password(donation)
    donation.add_address(NEW_OWNER)
    first, second = donation.alerts(donation.c.email)
    assert donation.open_link(first).press(OWN_CHANGE_BUTTON).status == 200
    assert donation.open_link(first).heading == "Link no longer works"
    donation.revert(second)


def test_opening_the_alert_page_confirms_nothing(donation: Takeover) -> None:
    change_password(donation)
    (link,) = donation.alerts(donation.c.email)
    for _ in range(2):
        assert donation.open_link(link).heading == "Secure your account"
