"""The page of an invitation to an organization, in every state and with every journey that leads through it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urljoin

import pyotp
import pytest

from app.contract.oauth.pages.authorization_pages import MAX_STATE
from tests.support.accounts.mailbox import mails_to
from tests.support.journeys.invitations import PASSWORD, Guest, NewGuest
from tests.support.organizations.invitations import GUEST, PATH
from tests.support.tenants.tenant_server import answered

NEW_PASSWORD = "Zebra-kettle-91"
APP_ALONE = {"email": False, "passkey": False}
POLICY = {"mode": "strict", "versions": [{"version": "2", "starts_at": "2020-01-01T00:00:00Z"}]}
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases


def test_invited_account_joins_with_one_click(guest: Guest) -> None:
    guest.sign_in()
    page = guest.open()
    assert page.heading == "Join Acme"
    assert "Grace Hopper invited you to join" in page.text
    assert "You’ll join as Editor" in page.text
    assert GUEST in page.text
    assert "Expires in 7 days" in page.text
    assert guest.status() == "invited"
    assert page.press("Join organization").address.endswith("/profile")
    assert guest.members() == [GUEST]
    again = guest.open()
    assert again.heading == "You’re already a member"
    assert again.follow("Continue").address.endswith("/profile")


def test_page_shown_to_another_account_does_not_join(guest: Guest) -> None:
    guest.sign_in()
    page = guest.open()
    guest.visitor.open("/logout").press("Sign out")
    guest.sign_in("bob@example.com")
    answer = page.press("Join organization")
    assert "bob@example.com" in answer.text
    assert (guest.status(), guest.members()) == ("invited", [])


def test_second_click_is_harmless(guest: Guest) -> None:
    guest.sign_in()
    page = guest.open()
    page.press("Join organization")
    assert page.press("Join organization").heading == "You’re already a member"
    assert guest.members() == [GUEST]


def test_new_person_registers_with_the_fixed_address(guest: Guest) -> None:
    form = guest.open().press("Create account to join")
    assert form.heading == "Create your account"
    assert "Then you’ll join Acme" in form.text
    assert f'value="{GUEST}"' in form.html
    assert "readonly" in form.html
    sent = len(mails_to(guest.world.services, guest.world.tenant_id, GUEST))
    done = form.press("Create account", email="eve@example.com", password=NEW_PASSWORD)
    assert done.address.endswith("/profile")
    assert guest.members() == [GUEST]
    assert len(mails_to(guest.world.services, guest.world.tenant_id, GUEST)) == sent
    assert mails_to(guest.world.services, guest.world.tenant_id, "eve@example.com") == []
    (found,) = [member for member in guest.business.members() if member["Email"] == GUEST]
    assert guest.business.tenant.read(found["Uid"])["EmailVerified"] is True


def test_invited_account_reads_why_it_signs_in(guest: Guest) -> None:
    assert "You already have an account" not in guest.open().text
    guest.world.person(GUEST)
    assert "You already have an account with this email." in guest.open().text


def test_resent_invitation_ends_what_an_earlier_link_began(guest: Guest) -> None:
    guest.world.person(GUEST)
    clock: Any = guest.world.services.clock
    begun, read = guest.open().press("Sign in to join"), guest.open()
    clock.advance(seconds=61)
    answered(guest.business.send("POST", f"{PATH}/{guest.invitation}/resend"))
    refused = begun.press("Sign in", identifier=GUEST, password=PASSWORD)
    assert refused.heading == "Link incomplete"
    assert (
        read.press("Join organization" if "Join organization" in read.text else "Sign in to join").heading
        == "Link incomplete"
    )
    assert (guest.members(), guest.status()) == ([], "invited")
    assert guest.open().press("Join organization").address.endswith("/profile")
    assert guest.members() == [GUEST]


def test_resent_invitation_fixes_no_address_of_an_earlier_link(guest: Guest) -> None:
    clock: Any = guest.world.services.clock
    form = guest.open().press("Create account to join")
    clock.advance(seconds=61)
    answered(guest.business.send("POST", f"{PATH}/{guest.invitation}/resend"))
    done = form.press("Create account", email=GUEST, password=NEW_PASSWORD)
    assert done.heading == "Check your email"
    assert guest.members() == []


def test_existing_person_signs_in_and_joins(guest: Guest) -> None:
    guest.world.person(GUEST)
    form = guest.open().press("Sign in to join")
    assert f'value="{GUEST}"' in form.html
    assert form.press("Sign in", identifier=GUEST, password=PASSWORD).address.endswith("/profile")
    assert guest.members() == [GUEST]


def test_joins_after_the_second_factor(new_guest: NewGuest) -> None:
    guest = new_guest(two_factor="required", second_factors=APP_ALONE)
    guest.world.person(GUEST)
    page = guest.open().press("Sign in to join").press("Sign in", identifier=GUEST, password=PASSWORD)
    assert guest.members() == []
    (key,) = re.findall(r'<p class="key"[^>]*>([A-Z2-7 ]+)</p>', page.html)
    page = page.press("Verify", code=pyotp.TOTP(key.replace(" ", "")).at(guest.world.services.clock.now()))
    assert page.press("I’ve saved them").address.endswith("/profile")
    assert guest.members() == [GUEST]


def test_joins_after_the_privacy_policy(new_guest: NewGuest) -> None:
    guest = new_guest(privacy_policy=POLICY)
    guest.world.person(GUEST)
    policy = guest.open().press("Sign in to join").press("Sign in", identifier=GUEST, password=PASSWORD)
    assert policy.address.partition("?")[0].endswith("/privacy-policy")
    assert guest.members() == []
    policy.press("Accept")
    assert guest.members() == [GUEST]


def test_another_account_is_asked_to_switch(guest: Guest) -> None:
    guest.sign_in("eve@example.com")
    guest.world.person(GUEST)
    page = guest.open()
    assert page.heading == "Switch account to join"
    assert "eve@example.com" in page.text
    assert "Decline" not in page.text
    form = page.press("Switch account")
    assert guest.visitor.cookies("gatehouse-session") == []
    assert form.press("Sign in", identifier=GUEST, password=PASSWORD).address.endswith("/profile")
    assert guest.members() == [GUEST]


def test_sign_in_to_another_account_does_not_join(guest: Guest) -> None:
    guest.world.person("eve@example.com")
    guest.world.person(GUEST)
    page = guest.open().press("Sign in to join").press("Sign in", identifier="eve@example.com", password=PASSWORD)
    assert page.heading == "Switch account to join"
    assert guest.members() == []
    assert guest.status() == "invited"
    page = page.press("Switch account").press("Sign in", identifier=GUEST, password=PASSWORD)
    assert page.address.endswith("/profile")
    assert guest.members() == [GUEST]


def test_join_posted_from_another_account_is_refused(guest: Guest) -> None:
    guest.sign_in("eve@example.com")
    page = guest.open()
    page = guest.visitor.send(
        "POST", urljoin(page.address, guest.link), {**page.form("Switch account").fields, "do": "join"}
    )
    assert page.heading == "Switch account to join"
    assert guest.members() == []


def test_declined_invitation_is_over(guest: Guest) -> None:
    assert guest.open().press("Decline").heading == "Invitation declined"
    assert guest.status() == "revoked"
    assert guest.open().heading == "Invitation declined"


def revoke(guest: Guest) -> None:
    answered(guest.business.send("DELETE", f"{PATH}/{guest.invitation}"))


def expire(guest: Guest) -> None:
    guest.business.wait(days=7)


def deactivate(guest: Guest) -> None:
    guest.business.deactivate(guest.business.org)


def delete(guest: Guest) -> None:
    answered(guest.business.send("DELETE", f"/v2/manage/organizations/{guest.business.org}"))


def fill(guest: Guest) -> None:
    guest.business.set_policy(MemberPolicy={"Seats": 1})


def accept(guest: Guest) -> None:
    answered(guest.business.accept(guest.business.token(), guest.business.guest()))


def turn_off(guest: Guest) -> None:
    guest.world.change_settings(organizations={"enabled": False})


@pytest.mark.parametrize(
    ("act", "heading", "sentence"),
    [
        (revoke, "Invitation revoked", "Ask the person who invited you for a new invitation."),
        (expire, "Invitation expired", "Invitations expire after 7 days."),
        (deactivate, "Organization not active", "Nobody can join right now."),
        (delete, "Link incomplete", "Open the link in your latest invitation email"),
        (fill, "No seats left", "Ask the person who invited you to add a seat"),
        (accept, "Invitation already accepted", "Sign in with the email the invitation"),
        (turn_off, "Link incomplete", "Open the link in your latest invitation email"),
    ],
)
def test_ended_invitation_shows_no_details(
    guest: Guest, act: Callable[[Guest], None], heading: str, sentence: str
) -> None:
    before = guest.open()
    act(guest)
    page = guest.open()
    assert page.heading == heading
    assert sentence in page.text
    for item in (GUEST, "Grace", "Join Acme", "Editor"):
        assert item not in page.text
    assert before.press("Create account to join").heading == heading


def test_unknown_token_is_refused(guest: Guest) -> None:
    assert guest.visitor.open("/i/any").heading == "Link incomplete"
    assert guest.visitor.open("/invitation").heading == "Link incomplete"


def test_link_of_another_tenant_is_unknown(guest: Guest, new_guest: NewGuest) -> None:
    assert new_guest().visitor.open(guest.link).heading == "Link incomplete"


def test_interaction_of_another_browser_shows_nothing(guest: Guest) -> None:
    guest.world.person("eve@example.com")
    page = guest.open().press("Create account to join")
    attempt = page.query["attempt"]
    outsider = guest.new_visitor().open(f"/invitation?attempt={attempt}")
    assert outsider.heading != "Join Acme"
    assert GUEST not in outsider.text


def test_reading_does_not_use_the_link_up(guest: Guest) -> None:
    for _ in range(3):
        assert guest.open().heading == "Join Acme"
    assert guest.status() == "invited"


def test_invited_person_returns_to_the_application(new_guest: NewGuest) -> None:
    guest = new_guest(url_whitelist=["https://app.example/home"])
    guest.sign_in()
    page = guest.open(return_url="https://app.example/home")
    assert page.press("Join organization").address == "https://app.example/home"


def test_invited_person_returns_to_a_request_with_long_state(guest: Guest) -> None:
    guest.sign_in()
    parameters = guest.world.application("shop").authorization_parameters(state="x" * MAX_STATE)
    query = urlencode({**parameters, "invitation_token": guest.link.rpartition("/")[2]})
    page = guest.visitor.open(f"/service/oidc/authorize?{query}").press("Join organization")
    assert page.query["state"] == "x" * MAX_STATE
    assert page.query["code"]


def test_foreign_return_address_is_refused(guest: Guest) -> None:
    guest.sign_in()
    page = guest.open(return_url="https://evil.example/").press("Join organization")
    assert page.address.endswith("/profile?landing=refused")
    assert guest.members() == [GUEST]
    assert "evil.example" not in guest.open(return_url="https://evil.example/").follow("Continue").address


def test_older_address_leads_to_the_page(guest: Guest) -> None:
    token = guest.link.rpartition("/")[2]
    assert guest.visitor.open(f"/auth.aspx?invitation_token={token}").heading == "Join Acme"


def test_unverified_account_cannot_take_the_invitation(guest: Guest) -> None:
    """An attacker registered the address before, without its mailbox: the account joins nothing."""
    attacker = guest.new_visitor()
    attacker.open("/register").press("Create account", email=GUEST, password=NEW_PASSWORD)
    assert "Create account to join" in guest.open().html
    page = guest.open().press("Create account to join").press("Create account", password="Amber-window-44")
    assert guest.members() == []
    assert page.status == 200
