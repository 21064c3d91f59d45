"""PINs: reauthentication, lockout, first PIN, reset."""

from __future__ import annotations

import pytest

from tests.support.accounts.customers import NEW, OLD
from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.accounts.pinned import (
    OTHER,
    PIN,
    PINS,
    REQUIRED,
    WRONG,
    by_code,
    by_link,
    change,
    first,
    lock,
    mailed_link,
    mails,
    pin_auth_token,
    pinned,
    session,
    sign_in_with_pin,
)
from tests.support.credentials.factors import second_factor_holder
from tests.support.credentials.passkeys import passkey_holder
from tests.support.operation_cases.cases import PAGE, AccountHolder, account_holder
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> AccountHolder:
    return pinned(account_holder(new_tenant_server, **PINS))


def test_notices_of_new_and_changed_pins_differ(ada: AccountHolder) -> None:
    answered(change()(ada))
    subjects = [
        item["subject"]
        for item in mails_to(ada.tenant.services, ada.tenant.tenant_id, ada.email)
        if "PIN" in item["subject"]
    ]
    name = ada.tenant.name.title()
    assert subjects == [f"A PIN was added to your {name} account", f"Your {name} PIN was changed"]


def test_pin_is_masked_in_profile(ada: AccountHolder) -> None:
    stored = answered(ada.own("U15"))["PIN"]
    assert {name: stored[name] for name in ("PIN", "Skipped", "LastPINChangeToken")} == {
        "PIN": "********", "Skipped": False, "LastPINChangeToken": None,
    }  # fmt: skip
    assert stored["LastPINChangeDate"]


@pytest.mark.parametrize("pin", ["123", "1234567", "abcd", "1111", "123456", "9876", "12a4"])
def test_malformed_or_common_pin_is_refused(ada: AccountHolder, pin: str) -> None:
    assert refused(change(PIN, pin)(ada)) == (400, 908)


def test_pin_digits_of_any_script_are_accepted(ada: AccountHolder) -> None:
    shown = "".join(chr(ord("\u0660") + int(digit)) for digit in PIN)
    assert answered(sign_in_with_pin(ada, session(ada), f"{shown[:3]} {shown[3:]}"))["access_token"]


def test_session_token_for_pin_is_used_once(ada: AccountHolder) -> None:
    token = session(ada)
    second = answered(sign_in_with_pin(ada, token))
    assert refused(sign_in_with_pin(ada, token)) == (403, 1245)
    assert answered(sign_in_with_pin(ada, second["session_token"]))["Profile"]["Uid"] == ada.uid


def test_wrong_pin_keeps_session_and_counts_towards_lock(new_tenant_server: NewTenantServer) -> None:
    ada = pinned(account_holder(new_tenant_server, **lock("suspend", 4)))
    token = session(ada)
    ada.guesses(2)
    assert refused(sign_in_with_pin(ada, token, WRONG)) == (401, 1236)
    assert refused(sign_in_with_pin(ada, token, WRONG)) == (403, 1198)
    assert refused(sign_in_with_pin(ada, token)) == (403, 1198)
    assert refused(ada.logs_in()) == (403, 1198)


def test_right_pin_does_not_reset_failed_attempts(new_tenant_server: NewTenantServer) -> None:
    ada = pinned(account_holder(new_tenant_server, **lock("suspend", 3)))
    bearer = ada.bearer
    ada.guesses(1)
    answered(ada.tenant.send("PUT", "/identity/v2/auth/pin/change", {"oldpin": PIN, "newpin": OTHER}, bearer=bearer))
    ada.guesses(1)
    assert refused(change(WRONG)(ada)) == (403, 1198)


@pytest.mark.both_databases
def test_parallel_uses_of_one_session_succeed_once(new_tenant_server: NewTenantServer) -> None:
    """The lock is disabled: each attempt is counted before it is verified, so parallel right PINs would lock."""
    ada = account_holder(new_tenant_server, **PINS, lockout={"type": "none"})
    token = session(ada)
    codes = at_once([lambda: sign_in_with_pin(ada, token).status_code for _ in range(20)])
    assert codes.count(200) == 1


@pytest.mark.both_databases
def test_parallel_uses_of_one_pin_link_succeed_once(ada: AccountHolder) -> None:
    token = mailed_link(ada)
    codes = at_once([lambda: by_link(ada, token).status_code for _ in range(20)])
    assert codes.count(200) == 1


@pytest.mark.both_databases
def test_parallel_settings_of_first_pin_succeed_once(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, **REQUIRED)
    token = pin_auth_token(ada)
    codes = at_once([lambda: first(ada, token).status_code for _ in range(20)])
    assert codes.count(200) == 1


@pytest.mark.both_databases
def test_parallel_pin_guesses_are_limited_by_lock(new_tenant_server: NewTenantServer) -> None:
    ada = pinned(account_holder(new_tenant_server, **lock("suspend", 5)))
    token = session(ada)
    answers = at_once([lambda: sign_in_with_pin(ada, token, WRONG) for _ in range(20)])
    codes = [refused(answer)[1] for answer in answers]
    assert (codes.count(1236), codes.count(1198)) == (4, 16)
    assert sum("hashes=1" in answer.headers["X-Gatehouse-Cost"] for answer in answers) == 5


@pytest.mark.both_databases
def test_password_or_pin_reset_revokes_pin_sessions(ada: AccountHolder) -> None:
    before = session(ada)
    answered(by_link(ada, mailed_link(ada), PIN))
    assert refused(sign_in_with_pin(ada, before)) == (403, 1245)
    before = session(ada)
    answered(ada.reset(resettoken=ada.issued_token(), password=NEW))
    assert refused(sign_in_with_pin(ada, before)) == (403, 1245)


@pytest.mark.both_databases
def test_pin_session_of_another_tenant_is_refused(ada: AccountHolder, new_tenant_server: NewTenantServer) -> None:
    bob = pinned(account_holder(new_tenant_server, **PINS))
    assert refused(sign_in_with_pin(bob, session(ada))) == (403, 1245)


def test_pin_of_closed_account_is_refused(ada: AccountHolder) -> None:
    token = session(ada)
    ada.set_columns(is_active=False)
    assert refused(sign_in_with_pin(ada, token)) == (403, 991)


def test_sign_in_pending_for_first_pin_completes_once(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, **REQUIRED)
    token = pin_auth_token(ada)
    assert refused(first(ada, token, "1234")) == (400, 908)
    login = answered(first(ada, token))
    assert (login["Profile"]["NoOfLogins"], login["Profile"]["FirstLogin"]) == (1, True)
    assert refused(first(ada, token)) == (403, 1239)
    assert answered(ada.logs_in())["session_token"]
    assert answered(sign_in_with_pin(ada, login["session_token"]))["access_token"]


def test_older_token_does_not_replace_existing_pin(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, **REQUIRED)
    token = pin_auth_token(ada)
    pinned(ada)
    assert refused(first(ada, token)) == (403, 1239)


def test_post_changes_pin_like_put(ada: AccountHolder) -> None:
    sent = {"oldpin": PIN, "newpin": OTHER}
    answered(ada.tenant.send("POST", "/identity/v2/auth/pin/change", sent, bearer=ada.bearer))
    assert answered(sign_in_with_pin(ada, answered(ada.logs_in())["session_token"], OTHER))["access_token"]


def test_profile_update_sets_first_pin_only(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, **PINS)
    assert ada.tenant.read(ada.uid)["PIN"] is None
    assert answered(ada.own("U16", {"PINInfo": {"Skipped": True}}))["Data"]["PIN"]["Skipped"] is True
    stored = answered(ada.own("U16", {"PINInfo": {"PIN": PIN}, "oldpassword": OLD}))["Data"]["PIN"]
    assert (stored["PIN"], stored["Skipped"]) == ("********", False)
    assert refused(ada.own("U16", {"PINInfo": {"PIN": OTHER}, "oldpassword": OLD})) == (401, 1241)
    assert answered(sign_in_with_pin(ada, answered(ada.logs_in())["session_token"]))["access_token"]


def test_changed_pin_is_notified_to_owner(ada: AccountHolder) -> None:
    answered(change()(ada))
    assert "PIN" in ada.mailed()["subject"]


def test_pin_reset_link_leads_to_requested_url(ada: AccountHolder) -> None:
    answered(mails("U70", resetpinurl=PAGE)(ada))
    assert link_in(ada.mailed()).startswith(f"{PAGE}?vtype=resetpin&vtoken=")


def test_management_issues_pin_reset_token_and_code(ada: AccountHolder) -> None:
    made = answered(ada.managed("A20", {"email": ada.email}, at={"tokentype": "forgotpin"}))
    answered(by_link(ada, made["Token"]))
    assert answered(sign_in_with_pin(ada, answered(ada.logs_in())["session_token"], OTHER))["Profile"]["Uid"] == ada.uid
    code = answered(ada.managed("A21", {"phone": ada.phone}, at={"smsotptype": "forgotpin"}))["Token"]
    answered(by_code(ada, code, pin=PIN))
    assert answered(sign_in_with_pin(ada, answered(ada.logs_in())["session_token"], PIN))["Profile"]["Uid"] == ada.uid


def test_unverified_phone_gets_no_pin_code(ada: AccountHolder) -> None:
    assert refused(ada.update_account(PhoneIdVerified=False).call("U72", {"phone": ada.phone})) == (401, 1409)


def test_pin_sign_in_requires_second_factor(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, **PINS)
    pinned(ada)
    token = str(answered(ada.signs_in())["session_token"])
    ada.enrols()
    login = answered(sign_in_with_pin(ada, token))
    assert login["access_token"] == "00000000-0000-0000-0000-000000000000"
    assert "session_token" not in login
    challenge = login["SecondFactorAuthentication"]["SecondFactorAuthenticationToken"]
    assert answered(ada.shows_code(ada.next_code(), challenge))["session_token"]


def test_passkey_sign_in_returns_pin_session(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, **PINS)
    pinned(ada)
    login = answered(ada.add_passkey().sign_in())
    assert login["session_expires_in"] > login["expires_in"]
    assert answered(sign_in_with_pin(ada, login["session_token"]))["Profile"]["Uid"] == ada.uid
