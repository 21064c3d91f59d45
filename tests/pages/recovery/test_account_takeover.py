"""Account takeover: an attacker with the password changes everything; any security alert reverts all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from tests.support.accounts.customers import NEW, OLD, PATH, UNLIMITED, a_customer
from tests.support.accounts.mailbox import code_in, sent_messages, token_in
from tests.support.journeys.account_takeover import (
    DELETE,
    EMAIL,
    NOT_ME,
    OWN,
    OWNER_PASSWORD,
    SAVE,
    Takeover,
    change_password,
    remove_owner_address,
)
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused
from tests.support.visitors.visitor import VisitedPage

pytestmark = pytest.mark.both_databases
NUMBER = "+4930123456"
ATTACKER, PENDING_ADDRESS = "thief@evil.test", "other@evil.test"


@pytest.fixture
def takeover(new_tenant_server: NewTenantServer, hub_app: Flask) -> Takeover:
    questions = {"security_questions": {"pet": "First pet?"}, "phone_login": True}
    c = a_customer(new_tenant_server, **questions, limits=UNLIMITED)
    account = answered(c.logs_in())
    return Takeover(c, hub_app, account["access_token"], account["refresh_token"])


def make_attacker_primary(takeover: Takeover) -> None:
    """Make the attacker's address primary, on the page because the API has no operation for it."""
    attacker = takeover.browser()
    attacker.open("/profile").press("Sign in", identifier=takeover.c.email, password=OLD, remember="y")
    page = attacker.open("/emails").press("Make primary", address=ATTACKER, action="primary")
    page.press("Make primary")


def set_security_answer(takeover: Takeover) -> None:
    for known in (OLD, NEW):  # the thief knows the password, which another step changed or not
        body = {"SecurityQuestionAnswer": {"pet": "a thief's own"}, "oldpassword": known}
        if (answer := takeover.own("PUT", OWN, body)).status_code == 200:
            return
    answered(answer)


ORDERS = {
    "the address last": [set_security_answer, change_password, remove_owner_address],
    "the address first": [set_security_answer, remove_owner_address, change_password],
    "another first address": [set_security_answer, make_attacker_primary, change_password],
    "the password first": [change_password, set_security_answer, remove_owner_address],
}


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("number", [0, -1])
@pytest.mark.parametrize("order", ORDERS)
def test_alert_reverts_the_takeover_in_any_order(takeover: Takeover, order: str, number: int) -> None:
    """The first alert works like the last one; the attacker's address was verified before all changes."""
    c = takeover.c
    takeover.add_address(ATTACKER)
    for step in ORDERS[order]:
        step(takeover)
    answered(takeover.own("POST", EMAIL, {"email": PENDING_ADDRESS, "type": "Secondary"}))
    pending = token_in(takeover.mails(PENDING_ADDRESS)[-1])
    answered(c.ask("POST", {"email": ATTACKER}))
    reset = token_in(takeover.mails(ATTACKER)[-1])
    attacker_browser = takeover.browser()
    attacker_browser.open("/profile").press("Sign in", identifier=ATTACKER, password=NEW, remember="y")

    takeover.revert(takeover.alerts(c.email)[number])

    assert attacker_browser.open("/profile").is_sign_in
    assert refused(takeover.own("GET", OWN)) == (401, 1409)
    assert refused(c.tenant.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=takeover.refresh))[0] == 403
    assert refused(c.reset(resettoken=reset, password=NEW))[0] == 403
    assert refused(c.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=pending))[0] == 403
    mails = len(takeover.mails(ATTACKER))
    assert refused(c.ask("POST", {"email": ATTACKER})) == (403, 938)
    assert len(takeover.mails(ATTACKER)) == mails
    for email, secret in ((ATTACKER, NEW), (c.email, NEW), (c.email, OLD)):
        assert refused(c.ask("POST", {"email": email, "password": secret}, path="/identity/v2/auth/login"))[0] != 200
    by_answer = {"username": c.username, "password": NEW, "securityanswer": {"pet": "a thief's own"}}
    assert refused(c.ask("PUT", by_answer, path=f"{PATH}/securityanswer")) == (403, 1092)
    assert [takeover.open_link(alert).heading for alert in takeover.alerts(ATTACKER)] == ["Link no longer works"] * len(
        takeover.alerts(ATTACKER)
    )
    account = c.tenant.read(c.uid)
    assert [(item["Type"], item["Value"]) for item in account["Email"]] == [("Primary", c.email)]
    assert (account["EmailVerified"], account["UnverifiedEmail"], account["PhoneId"]) == (True, None, None)
    answered(c.logs_in(OWNER_PASSWORD))


def test_earlier_alert_invalidates_later_ones_only(takeover: Takeover) -> None:
    takeover.add_address(ATTACKER)
    make_attacker_primary(takeover)
    takeover.bearer = answered(takeover.c.logs_in())["access_token"]
    change_password(takeover)
    takeover.open_link(takeover.alerts(ATTACKER)[-1]).press(NOT_ME)
    assert takeover.c.tenant.read(takeover.c.uid)["Email"][0]["Value"] == ATTACKER, (
        "the attacker's mailbox was notified, too"
    )
    takeover.revert(takeover.alerts(takeover.c.email)[0])
    answered(takeover.c.logs_in(OWNER_PASSWORD))


def test_alert_outlives_its_address_for_a_week(takeover: Takeover) -> None:
    takeover.add_address(ATTACKER)
    remove_owner_address(takeover)
    link, clock = takeover.alerts(takeover.c.email)[-1], takeover.c.tenant.services.clock
    clock.advance(days=6, hours=23)  # type: ignore[attr-defined]  # a test clock
    assert takeover.open_link(link).heading == "Secure your account"
    clock.advance(hours=2)  # type: ignore[attr-defined]  # a test clock
    expired = takeover.open_link(link)
    assert expired.heading == "Link no longer works"
    assert "can no longer be used to access the account" in expired.text
    assert "/forgot-password" not in expired.html


def test_own_reset_invalidates_earlier_alerts(takeover: Takeover) -> None:
    change_password(takeover)
    answered(takeover.c.reset(resettoken=takeover.c.token(), password=OWNER_PASSWORD))
    first, second = takeover.alerts(takeover.c.email)
    assert takeover.open_link(first).heading == "Link no longer works"
    assert "Reset your password instead" in takeover.open_link(first).text
    assert takeover.open_link(second).heading == "Secure your account"


def test_reset_keeps_alert_while_other_address_is_primary(takeover: Takeover) -> None:
    """Otherwise the owner could no longer remove the attacker's address."""
    takeover.add_address(ATTACKER)
    make_attacker_primary(takeover)
    answered(takeover.c.reset(resettoken=takeover.c.token(), password="Velvet-anchor-65"))
    takeover.revert(takeover.alerts(takeover.c.email)[0])
    assert [item["Value"] for item in takeover.c.tenant.read(takeover.c.uid)["Email"]] == [takeover.c.email]


def test_unverified_holder_gives_the_address_back(takeover: Takeover) -> None:
    takeover.add_address(ATTACKER)
    remove_owner_address(takeover)
    other = takeover.c.tenant.create(UserName="squatter", Email=[{"Type": "Primary", "Value": takeover.c.email}])
    takeover.revert(takeover.alerts(takeover.c.email)[-1])
    answered(takeover.c.logs_in(OWNER_PASSWORD))
    account = takeover.c.tenant.read(other["Uid"])
    assert (account["Email"], account["EmailVerified"]) == ([], False)


def test_address_verified_by_another_account_stays_there(takeover: Takeover) -> None:
    takeover.add_address(ATTACKER)
    remove_owner_address(takeover)
    address = [{"Type": "Primary", "Value": takeover.c.email}]
    other = takeover.c.tenant.create(UserName="again", Email=address, EmailVerified=True)
    page = takeover.open_link(takeover.alerts(takeover.c.email)[-1]).press(NOT_ME)
    assert page.heading == "Choose a new password", "another account's address gets no mail"
    page.press(SAVE, password=OWNER_PASSWORD)
    assert takeover.c.tenant.read(other["Uid"])["EmailVerified"] is True
    account = takeover.c.tenant.read(takeover.c.uid)
    assert (account["Email"], [item["Value"] for item in account["UnverifiedEmail"]]) == ([], [takeover.c.email])
    assert refused(takeover.own("GET", OWN)) == (401, 1409)


def test_tokens_of_removed_identifiers_are_refused(takeover: Takeover) -> None:
    """Even if nothing revoked them: the account's current columns decide."""
    c = takeover.c
    token, code = c.token(), code_in(c.mails()[-1])
    answered(c.ask("POST", {"phone": c.phone}, path=f"{PATH}/otp"))
    texted = c.texted()
    answered(takeover.own("DELETE", OWN))
    deletion = token_in(c.mails()[-1])
    c.set_columns(
        phone="+4930000001", email=ATTACKER, emails=[{"Type": "Primary", "Value": ATTACKER, "verified": True}]
    )
    assert refused(c.reset(resettoken=token, password=NEW)) == (403, 975)
    assert takeover.browser().open(f"/reset-password?vtoken={token}").heading == "Link expired"
    assert refused(c.reset(username=c.username, otp=code, password=NEW)) == (403, 1188)
    by_text = {"phone": c.phone, "otp": texted, "password": NEW}
    assert refused(c.ask("PUT", by_text, path=f"{PATH}/otp")) == (403, 1070)
    assert refused(c.tenant.send("GET", DELETE, with_secret=False, deletetoken=deletion)) == (403, 975)
    answered(c.ask("POST", {"username": c.username, "password": OLD}, path="/identity/v2/auth/login"))


def test_concurrent_uses_of_one_alert_have_one_winner(takeover: Takeover) -> None:
    change_password(takeover)
    link = takeover.alerts(takeover.c.email)[-1]
    pages = [takeover.open_link(link) for _ in range(50)]
    press: Callable[[VisitedPage], str] = lambda page: page.press(NOT_ME).heading  # noqa: E731 - a name for its type
    with ThreadPoolExecutor(16) as pool:
        counted = Counter(pool.map(press, pages))
    assert counted == {"Check your email": 1, "Account already secured": 49}
    assert (
        len([mail for mail in takeover.mails(takeover.c.email) if "Your account is secured" in str(mail["text"])]) == 1
    )


def test_alert_of_an_added_number_ends_its_sign_in(takeover: Takeover) -> None:
    """A number signs in and resets the password. A stolen token adds one without the password."""
    c, code = takeover.c, "/identity/v2/auth/login/passwordlesslogin/otp"
    answered(takeover.own("PUT", OWN, {"PhoneId": NUMBER}))
    answered(c.tenant.send("PUT", "/identity/v2/auth/phone/otp", {}, bearer=takeover.bearer, otp=c.texted()))
    c.tenant.change_settings(passwordless_sms=True)
    answered(c.ask("GET", path=code, phone=NUMBER))
    stolen = answered(c.ask("PUT", {"phone": NUMBER, "otp": c.texted()}, path=f"{code}/verify"))
    refresh = answered(c.tenant.send("GET", OWN, bearer=stolen["access_token"])) and stolen["refresh_token"]

    takeover.revert(takeover.alerts(c.email)[-1])

    assert answered(c.tenant.send("GET", f"{MANAGE}/{c.uid}"))["PhoneId"] is None
    assert refused(c.tenant.send("GET", OWN, bearer=stolen["access_token"])) == (401, 1409)
    assert refused(c.tenant.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=refresh))[0] == 403
    texts = len(sent_messages(c.tenant.services, c.tenant.tenant_id, "sms"))
    c.ask("GET", path=code, phone=NUMBER)
    c.ask("POST", {"phone": NUMBER}, path=f"{PATH}/otp")
    assert len(sent_messages(c.tenant.services, c.tenant.tenant_id, "sms")) == texts
