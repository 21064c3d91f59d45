"""Operations for forgotten, reset and changed passwords; the named errors have their own file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.customers import NEW, OLD, PATH, UNLIMITED, Customer, a_customer
from tests.support.accounts.mailbox import code_in, link_in, links_to, token_in
from tests.support.services.identity_service import pass_time
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused

CHANGE = f"{PATH}/change"
BY_SMS, BY_ANSWER = f"{PATH}/otp", f"{PATH}/securityanswer"
SECURITY_QUESTION = "/identity/v2/auth/securityquestion"
QUESTIONS = {"pet": "Your first pet?", "city": "Where were you born?"}
Make = Callable[..., Customer]


@pytest.fixture
def customer(new_tenant_server: NewTenantServer) -> Make:
    def make(**settings: Any) -> Customer:
        return a_customer(new_tenant_server, **settings)

    return make


def change(account: Customer, bearer: str, old: str = OLD, new: str = NEW) -> TestResponse:
    return account.tenant.send("PUT", CHANGE, {"oldpassword": old, "newpassword": new}, bearer=bearer)


# Reset by an emailed link or code.


@pytest.mark.parametrize("path", [PATH, f"{PATH}/reset", "/Identity/V2/Auth/Password/Reset"])
def test_token_sets_password(customer: Make, path: str) -> None:
    account = customer()
    assert answered(account.ask("PUT", {"resettoken": account.token(), "password": NEW}, path=path)) == {
        "IsPosted": True
    }
    assert refused(account.logs_in(OLD)) == (401, 966)
    answered(account.logs_in(NEW))


def test_code_sets_password_by_email_and_by_username(customer: Make) -> None:
    account = customer()
    answered(account.by_code(account.code()))
    answered(account.reset(username=account.username, otp=account.code(), password="Amber-window-44"))
    answered(account.logs_in("Amber-window-44"))


def test_reset_link_leads_to_requested_url(customer: Make) -> None:
    account = customer(url_whitelist=("https://shop.example",))
    answered(account.forgot(resetpasswordurl="https://shop.example/set?from=mail"))
    link = link_in(account.mails()[-1])
    assert link.startswith("https://shop.example/set?from=mail&vtype=reset&vtoken=")


def test_reset_mail_has_no_code_where_codes_are_disabled(customer: Make) -> None:
    account = customer(reset_password_codes=False, url_whitelist=("https://shop.example",))
    answered(account.forgot(resetpasswordurl="https://shop.example/set"))
    with pytest.raises(IndexError):
        code_in(account.mails()[-1])


def test_reset_signs_in_where_tenant_enables_it(customer: Make) -> None:
    account = customer(login_on_password_reset=True)
    made = answered(account.reset(resettoken=account.token(), password=NEW))
    token = made["Data"]["access_token"]
    answered(account.tenant.send("GET", "/identity/v2/auth/account", bearer=token))


def test_password_reset_revokes_every_token(customer: Make) -> None:
    account = customer()
    stored = answered(account.logs_in())
    answered(account.reset(resettoken=account.token(), password=NEW))
    assert refused(account.tenant.send("GET", "/identity/v2/auth/account", bearer=stored["access_token"])) == (
        401,
        1409,
    )
    refresh = account.tenant.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=stored["refresh_token"])
    assert refused(refresh) == (403, 1217)


def test_refused_password_keeps_token_and_code_valid(customer: Make) -> None:
    account = customer()
    token = account.token()
    assert refused(account.reset(resettoken=token, password=OLD)) == (403, 1015)
    assert refused(account.reset(resettoken=token, password="Password-1234")) == (403, 1216)
    answered(account.reset(resettoken=token, password=NEW))
    code = account.code()
    assert refused(account.by_code(code, password="short")) == (400, 1134)
    answered(account.by_code(code, password="Amber-window-44"))


def test_earlier_passwords_are_refused(customer: Make) -> None:
    account = customer(password_policy={"history": 2})
    answered(account.reset(resettoken=account.issued_token(), password=NEW))
    assert refused(account.reset(resettoken=account.issued_token(), password=OLD)) == (403, 1015)
    answered(account.reset(resettoken=account.issued_token(), password="Amber-window-44"))
    answered(account.reset(resettoken=account.issued_token(), password=OLD))


def test_newer_reset_mail_invalidates_older_one(customer: Make) -> None:
    account = customer()
    older = account.mail()
    newer = account.mail()
    assert refused(account.reset(resettoken=token_in(older), password=NEW)) == (403, 975)
    assert refused(account.by_code(code_in(older)))[1] in (1185, 1188)
    answered(account.reset(resettoken=token_in(newer), password=NEW))


def test_reset_token_unlocks_account(customer: Make) -> None:
    account = customer(lockout={"type": "suspend", "maximum_failed_attempts": 2})
    token = account.token()
    account.guesses(2)
    assert refused(account.logs_in()) == (403, 1198)
    answered(account.reset(resettoken=token, password=NEW))
    answered(account.logs_in(NEW))


def test_wrong_reset_codes_count_towards_sign_in_lock(customer: Make) -> None:
    account = customer(lockout={"type": "suspend", "maximum_failed_attempts": 3})
    right = account.code()
    for _ in range(3):
        account.by_code("000000" if right != "000000" else "111111")
    assert refused(account.logs_in()) == (403, 1198)
    assert refused(account.by_code(right)) == (403, 1198)


@pytest.mark.both_databases
def test_reset_token_of_another_tenant_is_refused(customer: Make) -> None:
    account, other = customer(), customer()
    assert refused(other.reset(resettoken=account.token(), password=NEW)) == (403, 1063)


def test_hidden_accounts_answer_reset_requests_alike(customer: Make) -> None:
    account = customer(hide_unknown_accounts=True)
    unknown_account = Customer(account.tenant, "", "absent@example.test", "absent")
    assert answered(account.forgot()) == answered(unknown_account.forgot())
    for _ in range(7):
        known, unknown = account.by_code("00000x"), unknown_account.by_code("00000x")
        if refused(known)[1] != 1198:
            assert (known.status_code, known.get_json()) == (unknown.status_code, unknown.get_json())
    assert unknown_account.mails() == []


@pytest.mark.both_databases
def test_reset_by_email_verifies_address(customer: Make) -> None:
    account = customer()
    account.tenant.update(account.uid, {"EmailVerified": False})
    answered(account.reset(resettoken=account.token(), password=NEW))
    assert account.tenant.read(account.uid)["EmailVerified"] is True


# Races.


def count_parallel(act: Callable[[], TestResponse], times: int = 50) -> Counter[int]:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: act(), range(times)))
    return Counter(answer.status_code for answer in answers)


@pytest.mark.both_databases
def test_parallel_uses_of_one_link_succeed_once(customer: Make) -> None:
    account = customer()
    token = account.token()
    passwords = iter([f"Racing-tortoise-{number}" for number in range(100, 200)])
    counted = count_parallel(lambda: account.reset(resettoken=token, password=next(passwords)))
    print(dict(counted))
    assert counted == {200: 1, 403: 49}


@pytest.mark.both_databases
def test_parallel_uses_of_one_code_succeed_once(customer: Make) -> None:
    account = customer()
    code = account.code()
    passwords = iter([f"Racing-tortoise-{number}" for number in range(100, 200)])
    counted = count_parallel(lambda: account.by_code(code, password=next(passwords)))
    print(dict(counted))
    assert counted == {200: 1, 403: 49}


# Reset by SMS or by security answers.


def test_sms_code_sets_password(customer: Make) -> None:
    account = customer(phone_login=True)
    sent = answered(account.ask("POST", {"phone": account.phone}, path=BY_SMS))
    assert set(sent["Data"]) == {"AccountSid", "Sid"}
    assert entries_of(account.tenant, "password.forgot") == [(account.uid, {"by": "sms"})]
    answered(account.ask("PUT", {"phone": account.phone, "otp": account.texted(), "password": NEW}, path=BY_SMS))
    answered(account.logs_in(NEW))


SMS_REFUSED: list[tuple[dict[str, Any], dict[str, Any], int]] = [
    ({"phone_login": False}, {}, 1074),
    ({}, {"phone": ""}, 1076),
    ({}, {"phone": "none"}, 1043),
    ({}, {"phone": "+4930999999999"}, 938),
    ({"captcha_at": ["forgot_password"]}, {}, 982),
]


@pytest.mark.parametrize(("settings", "body", "code"), SMS_REFUSED)
def test_invalid_sms_reset_request_is_refused(
    customer: Make, settings: dict[str, Any], body: dict[str, Any], code: int
) -> None:
    account = customer(**{"phone_login": True, **settings})
    assert refused(account.ask("POST", {"phone": account.phone, **body}, path=BY_SMS))[1] == code


@pytest.mark.both_databases
def test_unverified_phone_gets_no_reset_code(customer: Make) -> None:
    account = customer(phone_login=True)
    account.tenant.update(account.uid, {"PhoneIdVerified": False})
    assert refused(account.ask("POST", {"phone": account.phone}, path=BY_SMS)) == (403, 1066)


def test_wrong_or_expired_sms_code_is_refused(customer: Make) -> None:
    account = customer(phone_login=True)
    body = {"phone": account.phone, "otp": "12345x", "password": NEW}
    assert refused(account.ask("PUT", body, path=BY_SMS)) == (403, 1067)
    answered(account.ask("POST", {"phone": account.phone}, path=BY_SMS))
    code = account.texted()
    pass_time(account.tenant.services, minutes=6)
    assert refused(account.ask("PUT", {**body, "otp": code}, path=BY_SMS)) == (403, 1069)
    assert refused(account.by_code(code))[1] == 1185, "an SMS code is not accepted as an emailed code"


def test_security_answers_set_password_within_own_limit(customer: Make) -> None:
    account = customer(security_questions=QUESTIONS)
    body = {"email": account.email, "password": NEW, "securityanswer": {"pet": "red fox"}}
    assert refused(account.ask("PUT", body, path=BY_ANSWER)) == (403, 1093)
    assert refused(account.ask("PUT", {**body, "securityanswer": {"car": "x"}}, path=BY_ANSWER)) == (403, 1091)
    answered(account.ask("PUT", {**body, "securityanswer": {"pet": " grey OWL"}}, path=BY_ANSWER))
    answered(account.logs_in(NEW))
    assert account.ask("PUT", {**body, "securityanswer": {"pet": "grey owl"}}, path=BY_ANSWER).status_code == 429


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("by", ["link", "code"])
def test_reset_by_email_removes_security_answers(customer: Make, by: str) -> None:
    """A thief with a token, or with the password, stored their own answers before the owner reset the password."""
    account = customer(security_questions=QUESTIONS)
    bearer = str(account.tenant.tokens(account.uid)["access_token"])
    answered(
        account.tenant.send(
            "PUT",
            "/identity/v2/auth/account",
            {"SecurityQuestionAnswer": {"pet": "x"}, "oldpassword": OLD},
            bearer=bearer,
        )
    )
    account.tenant.update(account.uid, {"Password": "Thief-kettle-91"})
    answered(
        account.by_code(account.code()) if by == "code" else account.reset(resettoken=account.token(), password=NEW)
    )
    body = {"email": account.email, "password": "Thief-kettle-92", "securityanswer": {"pet": "x"}}
    assert refused(account.ask("PUT", body, path=BY_ANSWER)) == (403, 1092)
    answered(account.logs_in(NEW))


def test_wrong_security_answer_does_not_lock_sign_in(customer: Make) -> None:
    account = customer(security_questions=QUESTIONS, lockout={"maximum_failed_attempts": 2})
    body = {"email": account.email, "password": NEW, "securityanswer": {"pet": "red fox"}}
    for _ in range(3):
        account.ask("PUT", body, path=BY_ANSWER)
    answered(account.logs_in())


def test_reset_without_stored_answers_is_refused(customer: Make) -> None:
    account = customer()
    body = {"email": account.email, "password": NEW, "securityanswer": {"pet": "x"}}
    assert refused(account.ask("PUT", body, path=BY_ANSWER)) == (403, 1095)
    account = customer(security_questions=QUESTIONS)
    account.set_columns(private={})
    assert refused(account.ask("PUT", {**body, "email": account.email}, path=BY_ANSWER)) == (403, 1092)
    assert refused(account.ask("PUT", {**body, "email": "absent@example.test"}, path=BY_ANSWER)) == (403, 938)


def test_security_questions_are_listed_by_each_identifier(customer: Make) -> None:
    account = customer(security_questions=QUESTIONS, phone_login=True)
    listed = [{"QuestionId": "pet", "Question": "Your first pet?"}]
    for kind in ("email", "username", "phone"):
        answer = account.ask("GET", path=f"{SECURITY_QUESTION}/{kind}", **{kind: getattr(account, kind)})
        assert answer.get_json() == listed
    bearer = account.tenant.tokens(account.uid)["access_token"]
    assert account.tenant.send("GET", f"{SECURITY_QUESTION}/accesstoken", bearer=bearer).get_json() == listed


def test_invalid_security_question_request_is_refused(customer: Make) -> None:
    account = customer(security_questions=QUESTIONS)
    assert refused(account.ask("GET", path=f"{SECURITY_QUESTION}/email", email="absent@example.test")) == (403, 938)
    assert refused(account.ask("GET", path=f"{SECURITY_QUESTION}/email", email="no address")) == (400, 1038)
    account.set_columns(private={})
    assert refused(account.ask("GET", path=f"{SECURITY_QUESTION}/username", username=account.username)) == (403, 1092)
    off = customer()
    assert refused(off.ask("GET", path=f"{SECURITY_QUESTION}/email", email=off.email)) == (403, 1095)
    names = customer(security_questions=QUESTIONS, email_login=False)
    assert refused(names.ask("GET", path=f"{SECURITY_QUESTION}/email", email=names.email)) == (403, 1184)
    assert refused(names.ask("GET", path=f"{SECURITY_QUESTION}/phone", phone=names.phone)) == (403, 1184)


# Change with the old password, and by the tenant's servers.


def test_password_change_keeps_own_token_and_revokes_others(customer: Make) -> None:
    account = customer()
    mine, other = answered(account.logs_in()), answered(account.logs_in())
    answered(change(account, mine["access_token"]))
    answered(account.tenant.send("GET", "/identity/v2/auth/account", bearer=mine["access_token"]))
    assert refused(account.tenant.send("GET", "/identity/v2/auth/account", bearer=other["access_token"])) == (401, 1409)
    assert any(links_to(mail, "/not-me") for mail in account.mails()), "the owner is notified with a revert link"


CHANGE_REFUSED: list[tuple[str, str, tuple[int, int]]] = [
    ("wrong", NEW, (401, 967)),
    (OLD, OLD, (403, 1015)),
    (OLD, "short", (403, 1134)),
    (OLD, "Password-1234", (403, 1216)),
]


@pytest.mark.parametrize(("old", "new", "expected"), CHANGE_REFUSED)
def test_invalid_password_change_is_refused(customer: Make, old: str, new: str, expected: tuple[int, int]) -> None:
    account = customer()
    assert refused(change(account, answered(account.logs_in())["access_token"], old, new)) == expected


def test_wrong_old_passwords_lock_password_change(customer: Make) -> None:
    account = customer(lockout={"type": "captcha", "maximum_failed_attempts": 3})
    bearer = answered(account.logs_in())["access_token"]
    for _ in range(3):
        change(account, bearer, "wrong")
    assert refused(change(account, bearer)) == (403, 1132)
    assert refused(account.logs_in()) == (403, 1132)


def test_closed_account_cannot_change_password(customer: Make) -> None:
    account = customer()
    bearer = answered(account.logs_in())["access_token"]
    account.set_columns(is_active=False)
    assert refused(change(account, bearer)) == (403, 991)


def test_management_sets_and_reads_password(customer: Make) -> None:
    account = customer()
    stored = answered(account.logs_in())["access_token"]
    path = f"{MANAGE}/{account.uid}/password"
    made = answered(account.tenant.send("PUT", path, {"password": NEW}))
    assert made == answered(account.tenant.send("GET", path))
    assert made["PasswordHash"].startswith("$argon2id$")
    assert refused(account.tenant.send("PUT", path, {"x": "y"})) == (400, 908)
    assert refused(account.tenant.send("PUT", f"{MANAGE}/{'0' * 32}/password", {"password": NEW})) == (403, 984)
    assert refused(account.tenant.send("GET", "/identity/v2/auth/account", bearer=stored)) == (401, 1409)
    answered(account.logs_in(NEW))


def test_management_creates_reset_token(customer: Make) -> None:
    account = customer()
    made = answered(account.tenant.send("POST", f"{MANAGE}/forgot/token", {"email": account.email}))
    assert made["IdentityProviders"] == ["Email"]
    assert account.mails() == []
    answered(account.reset(resettoken=made["ForgotToken"], password=NEW))
    before = len(account.mails())
    answered(account.tenant.send("POST", f"{MANAGE}/forgot/token", {"username": account.username}, sendemail="true"))
    assert len(account.mails()) == before + 1
    assert refused(account.tenant.send("POST", f"{MANAGE}/forgot/token", {"x": 1})) == (400, 1141)


def test_app_info_follows_password_settings(customer: Make) -> None:
    account = customer(login_on_password_reset=True, captcha_at=["forgot_password"])
    published = answered(account.ask("GET", path="/ciam/appinfo"))
    published = published.get("Data", published)
    assert published["LoginOnPasswordReset"] is True
    assert published["OptionalRecaptchaConfiguration"]["Apis"]["PostForgotPasswordByEmail"] is True
    assert published["OptionalRecaptchaConfiguration"]["Apis"]["PutChangePassword"] is False
    assert published["TemplateVerificationTypes"]["ForgotPassword"] == "OTP"


def test_reset_requests_are_limited_per_ip_address(customer: Make) -> None:
    account = customer(limits={**UNLIMITED, "forgot_per_minute_per_address": 2})
    answered(account.forgot())
    answered(account.forgot())
    over = account.forgot()
    assert over.status_code == 429
    assert int(over.headers["Retry-After"]) > 0
