"""Every refusal and response of passwords and security questions: operations U32 to U41, A15, A16.

tests/api/recovery/test_named_errors.py has the errors of U33 and U34 that have names of their own.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.customers import NEW, OLD
from tests.support.operation_cases.cases import (
    PAGE,
    AccountHolder,
    Act,
    Answer,
    Ask,
    account_holder,
    refusals,
    with_breached,
    without_sms,
)
from tests.support.operation_cases.shapes import LOGIN, POSTED, POSTED_SMS, ListOf
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer, answered

PHONE = {"phone_login": True}
RIGHT = {"pet": "grey owl"}
UNKNOWN_EMAIL = "absent@example.test"
HEX = "0" * 32


def lock(kind: str) -> dict[str, Any]:
    return {"lockout": {"type": kind, "maximum_failed_attempts": 2}}


def change(old: str = OLD, new: str = NEW, **more: Any) -> Act:
    return lambda who: who.own("U32", {"oldpassword": old, "newpassword": new, **more})


def answer(**members: Any) -> Act:
    return lambda who: who.call("U37", {"email": who.email, "password": NEW, "securityanswer": RIGHT, **members})


def texted(who: AccountHolder) -> str:
    answered(who.call("U35", {"phone": who.phone}))
    return who.texted()


def by_sms(who: AccountHolder, otp: str, **more: Any) -> TestResponse:
    return who.call("U36", {"phone": who.phone, "otp": otp, "password": NEW, **more})


def sms(otp: str = "123456", **more: Any) -> Act:
    return lambda who: by_sms(who, otp, **more)


def wrong(otp: str) -> str:
    return "000000" if otp != "000000" else "111111"


def changed(act: Act, **columns: Any) -> Act:
    """Call it after a direct change of the account's columns."""

    def done(who: AccountHolder) -> TestResponse:
        assert who.bearer
        who.set_columns(**columns)
        return act(who)

    return done


def breached(act: Act) -> Act:
    def done(who: AccountHolder) -> TestResponse:
        with with_breached(who, NEW):
            return act(who)

    return done


def without_sms_sender(act: Act) -> Act:
    def done(who: AccountHolder) -> TestResponse:
        with without_sms(who):
            return act(who)

    return done


def twice(act: Act) -> Act:
    def done(who: AccountHolder) -> TestResponse:
        answered(act(who))
        return act(who)

    return done


def at_the_lock(**shown: Any) -> Act:
    """Send a texted code for a locked account."""

    def act(who: AccountHolder) -> TestResponse:
        otp = texted(who)
        who.guesses(2)
        return by_sms(who, otp, **shown)

    return act


def guessing(who: AccountHolder) -> TestResponse:
    """Send wrong passwords until the account is locked."""
    for _ in range(3):
        said = change("wrong")(who)
    return said


def guessed(who: AccountHolder) -> TestResponse:
    otp = texted(who)
    for _ in range(5):
        by_sms(who, wrong(otp))
    return by_sms(who, otp)


def used(who: AccountHolder) -> TestResponse:
    otp = texted(who)
    answered(by_sms(who, otp))
    return by_sms(who, otp, password="Amber-window-44")


def after_expiry(who: AccountHolder) -> TestResponse:
    otp = texted(who)
    who.advance_clock(minutes=6)
    return by_sms(who, otp)


def mailed_code(end: str) -> Act:
    """Send a mailed code that is used, expired or revoked."""

    def act(who: AccountHolder) -> TestResponse:
        otp = who.code()
        if end == "used":
            answered(who.by_code(otp))
        elif end == "over":
            who.advance_clock(minutes=11)
        else:
            for _ in range(5):
                who.by_code(wrong(otp))
        return who.by_code(otp, password="Amber-window-44")

    return act


def question(kind: str, value: str | None = None) -> Act:
    row = {"email": "U38", "username": "U39", "phone": "U40"}[kind]
    return lambda who: who.call(row, **{kind: getattr(who, kind) if value is None else value})


NO_QUESTIONS: dict[str, Any] = {"security_questions": {}}
UNANSWERED: dict[str, Any] = {"private": {}}
NAMES = {"email_login": False}
CODES = {"reset_password_codes": True}
REFUSALS = [
    *refusals(
        "U32",
        (967, change("wrong")),
        (1015, change(OLD, OLD)),
        (1216, change(OLD, "Password-1234")),
        (1315, breached(change()), {"password_policy": {"breached": "change"}}),
        (1134, change(OLD, "short")),
        (991, changed(change(), is_active=False)),
        (1132, guessing, lock("captcha")),
        (1148, guessing, lock("security_question")),
        (982, change(), {"captcha_at": ["change_password"]}),
    ),
    *refusals(
        "U34",
        (1186, mailed_code("used"), CODES),
        (1187, mailed_code("over"), CODES),
        (1188, mailed_code("void"), {**CODES, "lockout": {"type": "none"}}),
        (1216, lambda who: who.reset(resettoken=who.token(), password="Password-1234")),
        (1315, breached(lambda who: who.reset(resettoken=who.token(), password=NEW)),
         {"password_policy": {"breached": "change"}}),
        (1015, lambda who: who.reset(resettoken=who.token(), password=OLD)),
        (938, lambda who: who.reset(email=UNKNOWN_EMAIL, otp="123456", password=NEW), CODES),
    ),
    *refusals(
        "U35",
        (938, lambda who: who.call("U35", {"phone": "+4930999999999"}), PHONE),
        (1043, lambda who: who.call("U35", {"phone": "none"}), PHONE),
        (1066, lambda who: who.update_account(PhoneIdVerified=False).call("U35", {"phone": who.phone}), PHONE),
        (1074, lambda who: who.call("U35", {"phone": who.phone})),
        (1123, twice(lambda who: who.call("U35", {"phone": who.phone})),
         {**PHONE, "sending": {"sms": {"amount": 1, "minutes": 43_200}}}),
        (1149, twice(lambda who: who.call("U35", {"phone": who.phone})), {**PHONE, "sending": {"sms_per_day": 1}}),
        (982, lambda who: who.call("U35", {"phone": who.phone}), {**PHONE, "captcha_at": ["forgot_password"]}),
    ),
    *refusals(
        "U36",
        (1067, lambda who: by_sms(who, wrong(texted(who))), PHONE),
        (1068, used, PHONE),
        (1069, after_expiry, PHONE),
        (1070, guessed, {**PHONE, "lockout": {"type": "none"}}),
        (1074, sms()),
        (1216, lambda who: by_sms(who, texted(who), password="Password-1234"), PHONE),
        (1134, lambda who: by_sms(who, texted(who), password="short"), PHONE),
        (1015, lambda who: by_sms(who, texted(who), password=OLD), PHONE),
        (1132, at_the_lock(), {**PHONE, **lock("captcha")}),
        (1148, at_the_lock(), {**PHONE, **lock("security_question")}),
        (1198, at_the_lock(), {**PHONE, **lock("suspend")}),
        (991, lambda who: by_sms(who.update_account(IsActive=False), "123456"), PHONE),
        (938, sms(phone="+4930999999999"), PHONE),
        (1039, changed(sms(), password_hash=None), PHONE),
        (1091, at_the_lock(securityanswer={"car": "x"}), {**PHONE, **lock("security_question")}),
        (1093, at_the_lock(securityanswer={"pet": "x"}), {**PHONE, **lock("security_question")}),
        (1094, at_the_lock(securityanswer={"pet": "x", "city": "y"}),
         {**PHONE, **lock("security_question"), "hide_unknown_accounts": True}),
    ),
    *refusals(
        "U37",
        (938, answer(email=UNKNOWN_EMAIL)),
        (991, lambda who: answer()(who.update_account(IsActive=False))),
        (1091, answer(securityanswer={"car": "x"})),
        (1092, changed(answer(), **UNANSWERED)),
        (1093, answer(securityanswer={"pet": "x"})),
        (1094, lambda who: answer(securityanswer={"pet": "x", "city": "y"})(
            who.update_account(SecurityQuestionAnswer={"city": "Ulm"}))),
        (1095, answer(), NO_QUESTIONS),
        (1134, answer(password="short")),
        (1216, answer(password="Password-1234")),
        (1015, answer(password=OLD)),
    ),
    *refusals(
        "U38",
        (938, question("email", UNKNOWN_EMAIL)),
        (1038, question("email", "no address")),
        (1092, changed(question("email"), **UNANSWERED)),
        (1095, question("email"), NO_QUESTIONS),
        (1184, question("email"), NAMES),
    ),
    *refusals(
        "U39",
        (938, question("username", "absent")),
        (1092, changed(question("username"), **UNANSWERED)),
        (1095, question("username"), NO_QUESTIONS),
    ),
    *refusals(
        "U40",
        (938, question("phone", "+4930999999999"), PHONE),
        (1092, changed(question("phone"), **UNANSWERED), PHONE),
        (1095, question("phone"), NO_QUESTIONS),
        (1184, question("phone"), NAMES),
    ),
    *refusals(
        "U41",
        (1092, changed(lambda who: who.own("U41"), **UNANSWERED)),
        (1095, lambda who: who.own("U41"), NO_QUESTIONS),
    ),
    *refusals(
        "A15",
        (1039, changed(lambda who: who.managed("A15"), password_hash=None)),
        (984, lambda who: who.managed("A15", at={"uid": HEX})),
    ),
    *refusals(
        "A16",
        (908, lambda who: who.managed("A16", {"x": "y"})),
        (1015, lambda who: who.managed("A16", {"password": OLD})),
        (1039, changed(lambda who: who.managed("A16", {"password": NEW}), password_hash=None)),
        (1134, lambda who: who.managed("A16", {"password": "short"})),
        (1216, lambda who: who.managed("A16", {"password": "Password-1234"})),
        (984, lambda who: who.managed("A16", {"password": NEW}, at={"uid": HEX})),
    ),
]  # fmt: skip
_STANDS = "the reset stands; what keeps the account from signing in keeps the session out of its answer"
NOT_HERE: dict[tuple[str, int], str] = {
    ("U32", 984): "1409: the token of an account that is gone opens nothing",
    ("U32", 1038): "no address is given",
    ("U34", 1130): _STANDS,
    **{(row, 1194): _STANDS for row in ("U34", "U36", "U37")},
    **{(row, 1226): _STANDS for row in ("U34", "U36", "U37")},
    ("U37", 1039): "an account without a password is found by its answers, and gets one",
}

LISTED = ListOf({"QuestionId": "pet", "Question": "Your first pet?"})
SESSION = {"IsPosted": True, "Data": LOGIN}
RESET = ("ResetPassword",)


def by_answer(kind: str, who: AccountHolder) -> Ask:
    return Ask({kind: getattr(who, kind), "password": NEW, "securityanswer": RIGHT})


ANSWERS = [
    Answer("U32", lambda _: Ask({"oldpassword": OLD, "newpassword": NEW}), POSTED, events=("ChangePassword",)),
    Answer("U33", lambda who: Ask({"email": who.email}, {"resetpasswordurl": PAGE}), POSTED),
    Answer("U34", lambda who: Ask({"resettoken": who.token(), "password": NEW}), POSTED, events=RESET),
    Answer("U34", lambda who: Ask({"email": who.email, "otp": who.code(), "password": NEW}), POSTED, events=RESET),
    Answer("U34", lambda who: Ask({"username": who.username, "otp": who.code(), "password": NEW}), SESSION,
           {"login_on_password_reset": True}, events=(*RESET, "Login")),
    Answer("U35", lambda who: Ask({"phone": who.phone}, {"isvoiceotp": "false"}), POSTED_SMS, PHONE),
    Answer("U36", lambda who: Ask({"phone": who.phone, "otp": texted(who), "password": NEW}), POSTED, PHONE,
           events=RESET),
    *(Answer("U37", partial(by_answer, kind),
             POSTED, is_flat=False, events=RESET) for kind in ("email", "username", "phone")),
    Answer("U38", lambda who: Ask(query={"email": who.email}), LISTED),
    Answer("U39", lambda who: Ask(query={"username": who.username}), LISTED),
    Answer("U40", lambda who: Ask(query={"phone": who.phone}), LISTED),
    Answer("U41", lambda _: Ask(), LISTED),
    Answer("A15", lambda _: Ask(), {"PasswordHash": str}),
    Answer("A16", lambda _: Ask({"password": NEW}), {"PasswordHash": str}, events=("SetPassword",)),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


def test_security_answer_unlocks_password_change(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **lock("security_question"))
    guessing(who)
    answered(change(securityanswer=RIGHT)(who))
