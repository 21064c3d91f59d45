"""The rules of PINs: what opens a session again, what counts, what ends, who gets a first one."""

from __future__ import annotations

import pytest

from tests.support.customers import NEW
from tests.support.factors import second_factor_holder
from tests.support.mailbox import link_in
from tests.support.passkeys import passkey_holder
from tests.support.pinned import (
    OTHER,
    PIN,
    PINS,
    REQUIRED,
    WRONG,
    again,
    asked,
    by_code,
    by_link,
    change,
    first,
    lock,
    mailed_link,
    mails,
    pinned,
    session,
)
from tests.support.races import at_once
from tests.support.rows import PAGE, AccountHolder, account_holder
from tests.support.tenant_server import NewTenantServer, answered, refused


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> AccountHolder:
    return pinned(account_holder(new_tenant_server, **PINS))


def test_a_pin_is_masked_in_the_profile_and_lies_sealed(ada: AccountHolder) -> None:
    held = answered(ada.own("U15"))["PIN"]
    assert {name: held[name] for name in ("PIN", "Skipped", "LastPINChangeToken")} == {
        "PIN": "********", "Skipped": False, "LastPINChangeToken": None,
    }  # fmt: skip
    assert held["LastPINChangeDate"]


@pytest.mark.parametrize("pin", ["123", "1234567", "abcd", "1111", "123456", "9876", "12a4"])
def test_a_pin_of_another_form_or_one_that_everybody_tries_is_refused(ada: AccountHolder, pin: str) -> None:
    assert refused(change(PIN, pin)(ada)) == (400, 908)


def test_digits_of_any_script_are_digits(ada: AccountHolder) -> None:
    shown = "".join(chr(ord("\u0660") + int(digit)) for digit in PIN)
    assert answered(again(ada, session(ada), f"{shown[:3]} {shown[3:]}"))["access_token"]


def test_a_pin_alone_opens_nothing_and_its_session_is_used_up(ada: AccountHolder) -> None:
    token = session(ada)
    following = answered(again(ada, token))
    assert refused(again(ada, token)) == (403, 1245)
    assert answered(again(ada, following["session_token"]))["Profile"]["Uid"] == ada.uid


def test_a_wrong_pin_leaves_the_session_and_counts_with_wrong_passwords(new_tenant_server: NewTenantServer) -> None:
    ada = pinned(account_holder(new_tenant_server, **lock("suspend", 4)))
    token = session(ada)
    ada.guesses(2)
    assert refused(again(ada, token, WRONG)) == (401, 1236)
    assert refused(again(ada, token, WRONG)) == (403, 1198)
    assert refused(again(ada, token)) == (403, 1198)
    assert refused(ada.logs_in()) == (403, 1198)


def test_a_right_pin_where_a_second_factor_is_to_come_begins_no_new_count(new_tenant_server: NewTenantServer) -> None:
    ada = pinned(account_holder(new_tenant_server, **lock("suspend", 3)))
    bearer = ada.bearer
    ada.guesses(1)
    answered(ada.tenant.send("PUT", "/identity/v2/auth/pin/change", {"oldpin": PIN, "newpin": OTHER}, bearer=bearer))
    ada.guesses(1)
    assert refused(change(WRONG)(ada)) == (403, 1198)


def test_of_many_uses_of_one_session_at_once_one_wins(new_tenant_server: NewTenantServer) -> None:
    """Without a lock, which many right ones in one moment would come to: each is counted before it is weighed."""
    ada = account_holder(new_tenant_server, **PINS, lockout={"type": "none"})
    token = session(ada)
    codes = at_once([lambda: again(ada, token).status_code for _ in range(20)])
    assert codes.count(200) == 1


def test_of_many_uses_of_one_mailed_link_at_once_one_wins(ada: AccountHolder) -> None:
    token = mailed_link(ada)
    codes = at_once([lambda: by_link(ada, token).status_code for _ in range(20)])
    assert codes.count(200) == 1


def test_of_many_pins_that_are_set_at_once_one_wins(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, **REQUIRED)
    token = asked(ada)
    codes = at_once([lambda: first(ada, token).status_code for _ in range(20)])
    assert codes.count(200) == 1


def test_of_many_guesses_at_once_no_more_are_weighed_than_may_be(new_tenant_server: NewTenantServer) -> None:
    ada = pinned(account_holder(new_tenant_server, **lock("suspend", 5)))
    token = session(ada)
    answers = at_once([lambda: again(ada, token, WRONG) for _ in range(20)])
    codes = [refused(answer)[1] for answer in answers]
    assert (codes.count(1236), codes.count(1198)) == (4, 16)
    assert sum("hashes=1" in answer.headers["X-Gatehouse-Cost"] for answer in answers) == 5


def test_sessions_end_with_the_password_and_with_a_forgotten_pin(ada: AccountHolder) -> None:
    before = session(ada)
    answered(by_link(ada, mailed_link(ada), PIN))
    assert refused(again(ada, before)) == (403, 1245)
    before = session(ada)
    answered(ada.reset(resettoken=ada.issued_token(), password=NEW))
    assert refused(again(ada, before)) == (403, 1245)


def test_a_session_of_another_tenant_is_unknown(ada: AccountHolder, new_tenant_server: NewTenantServer) -> None:
    bob = pinned(account_holder(new_tenant_server, **PINS))
    assert refused(again(bob, session(ada))) == (403, 1245)


def test_a_closed_account_comes_in_by_no_pin(ada: AccountHolder) -> None:
    token = session(ada)
    ada.set_columns(is_active=False)
    assert refused(again(ada, token)) == (403, 991)


def test_a_sign_in_that_waits_for_a_pin_goes_on_once_and_the_pin_stands(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, **REQUIRED)
    token = asked(ada)
    assert refused(first(ada, token, "1234")) == (400, 908)
    login = answered(first(ada, token))
    assert (login["Profile"]["NoOfLogins"], login["Profile"]["FirstLogin"]) == (1, True)
    assert refused(first(ada, token)) == (403, 1239)
    assert answered(ada.logs_in())["session_token"]
    assert answered(again(ada, login["session_token"]))["access_token"]


def test_whoever_has_a_pin_by_now_gets_no_other_by_an_older_token(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, **REQUIRED)
    token = asked(ada)
    pinned(ada)
    assert refused(first(ada, token)) == (403, 1239)


def test_post_changes_a_pin_as_put_does(ada: AccountHolder) -> None:
    sent = {"oldpin": PIN, "newpin": OTHER}
    answered(ada.tenant.send("POST", "/identity/v2/auth/pin/change", sent, bearer=ada.bearer))
    assert answered(again(ada, answered(ada.logs_in())["session_token"], OTHER))["access_token"]


def test_a_profile_takes_a_first_pin_and_no_other(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, **PINS)
    assert answered(ada.own("U16", {"PINInfo": {"Skipped": True}}))["Data"]["PIN"]["Skipped"] is True
    held = answered(ada.own("U16", {"PINInfo": {"PIN": PIN}}))["Data"]["PIN"]
    assert (held["PIN"], held["Skipped"]) == ("********", False)
    assert refused(ada.own("U16", {"PINInfo": {"PIN": OTHER}})) == (401, 1241)
    assert answered(again(ada, answered(ada.logs_in())["session_token"]))["access_token"]


def test_every_pin_that_is_new_is_told_to_its_owner(ada: AccountHolder) -> None:
    answered(change()(ada))
    assert "PIN" in ada.mailed()["subject"]


def test_the_mail_leads_where_the_caller_wants(ada: AccountHolder) -> None:
    answered(mails("U70", resetpinurl=PAGE)(ada))
    assert link_in(ada.mailed()).startswith(f"{PAGE}?vtype=resetpin&vtoken=")


def test_a_server_brings_the_token_and_the_code_itself(ada: AccountHolder) -> None:
    made = answered(ada.managed("A20", {"email": ada.email}, at={"tokentype": "forgotpin"}))
    answered(by_link(ada, made["Token"]))
    code = answered(ada.managed("A21", {"phone": ada.phone}, at={"smsotptype": "forgotpin"}))["Token"]
    answered(by_code(ada, code, pin=PIN))


def test_a_number_that_nobody_proved_gets_no_code(ada: AccountHolder) -> None:
    assert refused(ada.becomes(PhoneIdVerified=False).call("U72", {"phone": ada.phone})) == (401, 1409)


def test_a_sign_in_by_pin_knows_the_second_factor(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, **PINS)
    pinned(ada)
    token = str(answered(ada.signs_in())["session_token"])
    ada.enrols()
    login = answered(again(ada, token))
    assert login["access_token"] == "00000000-0000-0000-0000-000000000000"
    assert "session_token" not in login
    challenge = login["SecondFactorAuthentication"]["SecondFactorAuthenticationToken"]
    assert answered(ada.shows_code(ada.next_code(), challenge))["session_token"]


def test_a_passkey_leaves_a_session_for_the_pin_too(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, **PINS)
    pinned(ada)
    login = answered(ada.has_passkey().comes())
    assert login["session_expires_in"] > login["expires_in"]
    assert answered(again(ada, login["session_token"]))["Profile"]["Uid"] == ada.uid
