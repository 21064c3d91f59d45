"""The page of an invitation link for several people, in every state and with every journey that leads through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.accounts.mailbox import code_in, mails_to
from tests.support.fakes.native_apps import jwt_sender
from tests.support.journeys.invitations import Guest, NewGuest
from tests.support.organizations.invitations import GUEST, LINKS
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage

PASSWORD, NEW_PASSWORD = "correct horse 7", "Zebra-kettle-91"
EVE = "eve@example.com"
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases


def opened(guest: Guest, **members: Any) -> VisitedPage:
    """Create a link and open it; further calls without members open the same one."""
    if members or "link" not in guest.__dict__:
        guest.__dict__["link_"] = guest.business.link(**members)
    return guest.visitor.open(f"/i/{guest.__dict__['link_']['Token']}")


def again(guest: Guest) -> VisitedPage:
    return guest.visitor.open(f"/i/{guest.__dict__['link_']['Token']}")


def mailed_code(guest: Guest, email: str) -> str:
    return code_in(mails_to(guest.world.services, guest.world.tenant_id, email)[-1])


def test_signed_in_person_joins_with_one_click(guest: Guest) -> None:
    guest.sign_in(EVE)
    page = opened(guest)
    assert page.heading == "Join Acme"
    assert "Grace Hopper invited you to join Acme on" in page.text
    assert EVE in page.text
    assert "Decline" not in page.text
    assert page.press("Join organization").address.endswith("/profile")
    assert guest.members() == [EVE]
    assert page.press("Join organization").address.endswith("/profile"), "a second click is harmless"
    assert guest.members() == [EVE]
    assert again(guest).heading == "You’re already a member"


def test_new_person_chooses_an_address_verifies_it_and_joins(guest: Guest) -> None:
    page = opened(guest)
    assert "Any email you can verify" in page.text
    form = page.press("Create account to join")
    assert "Then you’ll join Acme" in form.text
    assert "readonly" not in form.html
    page = form.press("Create account", email=EVE, password=NEW_PASSWORD)
    assert guest.members() == []
    assert page.press("Verify", code=mailed_code(guest, EVE)).address.endswith("/profile")
    assert guest.members() == [EVE]


def test_existing_person_signs_in_and_joins(guest: Guest) -> None:
    guest.world.person(EVE)
    form = opened(guest).press("Sign in")
    assert form.press("Sign in", identifier=EVE, password=PASSWORD).address.endswith("/profile")
    assert guest.members() == [EVE]


def test_link_names_its_domains(guest: Guest) -> None:
    assert "Only example.org, globex.example emails" in opened(guest, domains=["example.org", "globex.example"]).text


def test_person_of_another_domain_sees_the_domains_alone(guest: Guest) -> None:
    guest.sign_in(EVE)
    guest.world.person("ada@globex.example")
    page = opened(guest, domains=["globex.example"])
    assert page.heading == "Use another email"
    assert "This link only works with globex.example emails." in page.text
    for item in ("Acme", "Grace", "Editor", "Join organization"):
        assert item not in page.text
    form = page.press("Switch account")
    assert form.press("Sign in", identifier="ada@globex.example", password=PASSWORD).address.endswith("/profile")
    assert guest.members() == ["ada@globex.example"]


def test_sign_in_with_another_domain_does_not_join(guest: Guest) -> None:
    guest.world.person(EVE)
    page = (
        opened(guest, domains=["globex.example"]).press("Sign in").press("Sign in", identifier=EVE, password=PASSWORD)
    )
    assert page.heading == "Use another email"
    assert guest.members() == []


def test_unverified_account_verifies_and_joins(new_guest: NewGuest) -> None:
    guest = new_guest(email_verification="optional")
    page = opened(guest).press("Create account to join").press("Create account", email=EVE, password=NEW_PASSWORD)
    assert page.heading == "Verify your email to join"
    assert EVE in page.text
    assert guest.members() == []
    page = page.press("Email me a code")
    assert page.press("Verify", code=mailed_code(guest, EVE)).address.endswith("/profile")
    assert guest.members() == [EVE]


def revoke(guest: Guest) -> None:
    answered(guest.business.send("DELETE", f"{LINKS}/{guest.__dict__['link_']['Id']}"))


def expire(guest: Guest) -> None:
    guest.business.wait(days=7)


def use_up(guest: Guest) -> None:
    answered(guest.business.accept(guest.__dict__["link_"]["Token"], guest.business.guest("bob@example.com")))


def fill(guest: Guest) -> None:
    guest.business.set_policy(MemberPolicy={"Seats": 1})


def turn_off(guest: Guest) -> None:
    guest.world.change_settings(organizations={"enabled": False})


@pytest.mark.parametrize(
    ("act", "heading", "sentence"),
    [
        (revoke, "Link turned off", "Ask the person who shared the link for a new one."),
        (expire, "Link expired", "Ask the person who shared the link for a new one."),
        (use_up, "Link limit reached", "Ask for a new one."),
        (fill, "No seats left", "Ask the person who invited you to add a seat"),
        (turn_off, "Link incomplete", "Open the link in your latest invitation email"),
    ],
)
def test_ended_link_shows_no_details(guest: Guest, act: Callable[[Guest], None], heading: str, sentence: str) -> None:
    before = opened(guest, maxUses=1)
    act(guest)
    page = again(guest)
    assert page.heading == heading
    assert sentence in page.text
    for item in ("Grace", "Acme", "Editor"):
        assert item not in page.text
    assert before.press("Create account to join").heading == heading


def test_link_is_not_declined(guest: Guest) -> None:
    page = opened(guest)
    form = page.form("Create account to join").fields
    guest.visitor.send("POST", page.address, {**form, "do": "decline"})
    assert again(guest).heading == "Join Acme"


def test_removed_member_finds_the_link_turned_off(guest: Guest) -> None:
    guest.sign_in(GUEST)
    opened(guest).press("Join organization")
    (uid,) = [member["Uid"] for member in guest.business.members() if member["Email"] == GUEST]
    answered(guest.business.send("DELETE", f"/v2/manage/account/{uid}/orgcontext/{guest.business.org}"))
    page = again(guest)
    assert page.heading == "Link turned off"
    assert "Acme" not in page.text


def test_forged_jwt_uses_no_invitation(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    token = jwt_sender(guest.business.tenant, LoginUrl="https://portal.example/in", Domain="example.com")
    opened(guest).press("Sign in").follow("Continue with Partner")
    forged = token(email=EVE, email_verified=True)
    assert guest.visitor.open(f"/access/jwt?jwttoken={forged}").heading == "Profile"
    assert guest.members() == []
    assert again(guest).press("Join organization").address.endswith("/profile"), "who is signed in joins by the page"
