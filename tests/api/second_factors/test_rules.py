"""Rules of all second factors: challenges, enrolment and continuation tokens."""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import unquote

import pyotp
import pytest
import segno

from tests.support.accounts.customers import NEW
from tests.support.accounts.mailbox import code_in, links_to, mails_to
from tests.support.authenticators.sent import MailDriver
from tests.support.credentials.factors import LOGIN_2FA, SecondFactorHolder, second_factor_holder
from tests.support.races import at_once
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused

ZERO = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> SecondFactorHolder:
    return second_factor_holder(new_tenant_server)


def test_optional_factor_lets_unenrolled_account_sign_in(ada: SecondFactorHolder) -> None:
    login = answered(ada.signs_in())
    assert login["SecondFactorAuthentication"] is None
    assert login["Profile"]["Uid"] == ada.uid


def test_plain_login_is_refused_before_password_check(ada: SecondFactorHolder) -> None:
    assert refused(ada.logs_in()) == refused(ada.logs_in("wrong")) == (403, 1176)


def test_two_factor_login_is_refused_when_factors_are_disabled(
    new_tenant_server: NewTenantServer,
) -> None:
    assert refused(second_factor_holder(new_tenant_server, two_factor="disabled").signs_in()) == (403, 1097)
    none = {"totp": False, "email": False, "passkey": False}
    assert refused(second_factor_holder(new_tenant_server, second_factors=none).signs_in()) == (403, 1098)


def test_challenge_holds_no_session_and_no_secret(ada: SecondFactorHolder) -> None:
    ada.enrols()
    answer = answered(ada.signs_in())
    assert (answer["access_token"], answer["expires_in"]) == (ZERO, "0001-01-01T00:00:00")
    assert (answer["Profile"], answer["refresh_token"]) == (None, None)
    challenge = answer["SecondFactorAuthentication"]
    assert challenge["IsGoogleAuthenticatorVerified"] is challenge["IsAuthenticatorVerified"] is True
    assert (challenge["QRCode"], challenge["ManualEntryCode"]) == (None, None)
    first, _, _ = ada.email.partition("@")
    assert challenge["Email"] == [f"{first[0]}{'*' * (len(first) - 2)}{first[-1]}@e*****e.t**t"]


def test_totp_code_completes_sign_in(ada: SecondFactorHolder) -> None:
    ada.enrols()
    login = answered(ada.shows_code(ada.next_code()))
    assert login["Profile"]["Uid"] == ada.uid
    assert login["SecondFactorAuthentication"] is None
    requested = ada.tenant.send("GET", "/identity/v2/auth/account", bearer=login["access_token"])
    assert answered(requested)["NoOfLogins"] == 1


def test_required_factor_is_enrolled_by_its_first_code(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, two_factor="required")
    challenge = ada.challenged()
    assert len(challenge["ManualEntryCode"]) == 52
    ada.app = pyotp.TOTP(challenge["ManualEntryCode"])
    uri = ada.app.provisioning_uri(name=ada.email, issuer_name=ada.tenant.name.title())
    assert shape_in(challenge["QRCode"]) == shape_in(segno.make(uri, error="m", micro=False).svg_data_uri())
    token = challenge["SecondFactorAuthenticationToken"]
    assert answered(ada.shows_code(ada.shows(), token))["Profile"]["Uid"] == ada.uid
    assert ada.challenged()["IsAuthenticatorVerified"] is True


def test_password_alone_enrols_no_second_authenticator(ada: SecondFactorHolder) -> None:
    ada.enrols()
    ada.backup_codes()
    attacker = SecondFactorHolder(**{**vars(ada), "app": None})
    token = attacker.token()
    assert refused(attacker.shows_code("000000", token)) == (403, 1102)


@pytest.mark.both_databases
def test_parallel_enrolments_have_one_winner(new_tenant_server: NewTenantServer) -> None:
    """An attacker who knows the password and the owner enrol at the same time."""
    ada = second_factor_holder(new_tenant_server, two_factor="required")
    totp_challenge, email_token = ada.challenged(), ada.token()
    ada.app = pyotp.TOTP(totp_challenge["ManualEntryCode"])
    answered(ada.answer_challenge("email", {"emailid": ada.email}, email_token, "POST"))
    mailed, shown = code_in(ada.mailed()), ada.shows()
    answers = at_once([
        lambda: ada.shows_code(shown, totp_challenge["SecondFactorAuthenticationToken"]).status_code,
        lambda: ada.answer_challenge("email", {"emailid": ada.email, "otp": mailed}, email_token).status_code,
    ])  # fmt: skip
    assert sorted(answers) == [200, 403]


@pytest.mark.parametrize("shown", ["{} {}", "{}-{}", "\u2066{}{}\u2069"])
def test_code_with_separators_is_accepted(ada: SecondFactorHolder, shown: str) -> None:
    ada.enrols()
    code = ada.next_code()
    assert answered(ada.shows_code(shown.format(code[:3], code[3:])))["Profile"]


@pytest.mark.parametrize("zero", ["\uff10", "\u0660", "\u06f0", "\u0966"])
def test_digits_of_any_script_are_accepted(ada: SecondFactorHolder, zero: str) -> None:
    ada.enrols()
    code = "".join(chr(ord(zero) + int(digit)) for digit in ada.next_code())
    assert answered(ada.shows_code(code))["Profile"]


def test_clock_drift_of_one_step_is_accepted_and_two_refused(ada: SecondFactorHolder) -> None:
    ada.enrols()
    ada.advance_clock(seconds=120)
    assert refused(ada.shows_code(ada.shows(-60))) == (403, 1102)
    assert refused(ada.shows_code(ada.shows(60))) == (403, 1102)
    assert answered(ada.shows_code(ada.shows(30)))["Profile"]


def test_continuation_token_works_once(ada: SecondFactorHolder) -> None:
    ada.enrols()
    token = ada.token()
    answered(ada.shows_code(ada.next_code(), token))
    assert refused(ada.shows_code(ada.next_code(), token)) == (403, 1103)


def test_continuation_token_expires_after_ten_minutes(ada: SecondFactorHolder) -> None:
    ada.enrols()
    token = ada.token()
    ada.advance_clock(minutes=10)
    assert refused(ada.shows_code(ada.shows(), token)) == (403, 1104)


@pytest.mark.both_databases
def test_password_reset_ends_continuation_tokens(ada: SecondFactorHolder) -> None:
    ada.enrols()
    token = ada.token()
    answered(ada.reset(resettoken=ada.issued_token(), password=NEW))
    assert refused(ada.shows_code(ada.next_code(), token)) == (403, 1103)


def test_password_set_by_server_ends_continuation_tokens(ada: SecondFactorHolder) -> None:
    ada.enrols()
    token = ada.token()
    ada.advance_clock(seconds=30)
    ada.update_account(Password=NEW)
    assert refused(ada.shows_code(ada.shows(), token)) == (403, 1103)


def test_wrong_codes_and_passwords_count_together(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, lockout={"type": "suspend", "maximum_failed_attempts": 4}).enrols()
    ada.ask("POST", {"email": ada.email, "password": "wrong"}, path="/identity/v2/auth/login/2fa")
    for _ in range(2):
        assert refused(ada.shows_code("000000")) == (403, 1102)
    token = ada.token()
    assert refused(ada.shows_code("000000", token)) == (403, 1198)
    assert refused(ada.shows_code(ada.next_code(), token)) == (403, 1264)
    assert refused(ada.signs_in()) == (403, 1198)


def test_right_password_does_not_reset_wrong_code_count(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, lockout={"type": "suspend", "maximum_failed_attempts": 3}).enrols()
    answers = [refused(ada.shows_code("000000")) for _ in range(3)]
    assert answers == [(403, 1102), (403, 1102), (403, 1198)]


def test_mailed_code_does_not_reset_wrong_code_count(new_tenant_server: NewTenantServer) -> None:
    lock = {"type": "suspend", "maximum_failed_attempts": 3}
    ada = second_factor_holder(new_tenant_server, lockout=lock, passwordless_email=True).enrols()
    for expected in (1102, 1102, 1198):
        answered(ada.call("U49", email=ada.email))
        shown = answered(ada.call("U51", {"email": ada.email, "otp": code_in(ada.mailed())}))
        token = shown["SecondFactorAuthentication"]["SecondFactorAuthenticationToken"]
        assert refused(ada.shows_code("000000", token)) == (403, expected)


@pytest.mark.both_databases
def test_parallel_guesses_stay_within_limit(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, lockout={"type": "suspend", "maximum_failed_attempts": 5}).enrols()
    token = ada.token()
    ada.advance_clock(seconds=30)
    answers = [refused(factor) for factor in at_once([partial(ada.shows_code, f"{n:06}", token) for n in range(30)])]
    assert sorted({code for _, code in answers} - {1198, 1264}) == [1102]
    assert sum(code == 1102 for _, code in answers) == 4


def test_backup_codes_are_issued_once_and_work_once(ada: SecondFactorHolder) -> None:
    assert refused(ada.own("GET", "backupcode")) == (403, 1101)
    codes = ada.enrols().backup_codes()
    assert len(set(codes)) == 10
    assert refused(ada.own("GET", "backupcode")) == (403, 1127)
    shown = codes[0].upper().replace("-", " ")
    assert answered(ada.answer_challenge("backupcode", {"backupcode": shown}, ada.token()))["Profile"]
    assert refused(ada.answer_challenge("backupcode", {"backupcode": codes[0]}, ada.token())) == (403, 1129)
    new_codes = answered(ada.own("GET", "backupcode/reset"))["BackUpCodes"]
    assert refused(ada.answer_challenge("backupcode", {"backupcode": codes[1]}, ada.token())) == (403, 1129)
    assert answered(ada.answer_challenge("backupcode", {"backupcode": new_codes[0]}, ada.token()))["Profile"]


@pytest.mark.parametrize("requested_by", ["the person", "the server"])
def test_new_backup_codes_are_mailed_with_an_alert(ada: SecondFactorHolder, requested_by: str) -> None:
    """A stolen token makes the first ones, too, and they replace the factor for good."""
    ada.enrols()
    for count, path in enumerate(("backupcode", "backupcode/reset"), 1):
        answered(
            ada.own("GET", path)
            if requested_by == "the person"
            else ada.tenant.send("GET", f"{MANAGE}/2fa/{path}", uid=ada.uid)
        )
        mails = [
            item
            for item in mails_to(ada.tenant.services, ada.tenant.tenant_id, ada.email)
            if "backup codes" in item["subject"]
        ]
        assert [bool(links_to(mail["text"], "/not-me")) for mail in mails] == [True] * count


@pytest.mark.both_databases
def test_removing_last_factor_removes_backup_codes(ada: SecondFactorHolder) -> None:
    ada.enrols().backup_codes()
    answered(ada.own("DELETE", "totp"))
    assert answered(ada.signs_in())["SecondFactorAuthentication"] is None
    assert refused(ada.own("GET", "backupcode")) == (403, 1101)
    assert refused(ada.own("DELETE", "totp")) == (403, 1099)


def test_email_counts_as_one_factor_only(new_tenant_server: NewTenantServer) -> None:
    ada = second_factor_holder(new_tenant_server, login_on_password_reset=True)
    MailDriver().enrol(ada)
    answer = answered(ada.reset(resettoken=ada.issued_token(), password=NEW))
    assert answer.get("Data") is None
    challenge = answered(ada.ask("POST", {"email": ada.email, "password": NEW}, path=LOGIN_2FA))
    assert challenge["SecondFactorAuthentication"]["IsEmailOtpAuthenticatorVerified"] is True


def shape_in(picture: str) -> str:
    """Return the path that an SVG of a QR code draws, which is the same at every size."""
    (path,) = re.findall(r" d=['\"]([^'\"]+)", unquote(picture))
    return str(path)
