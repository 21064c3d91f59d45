"""Every refusal and response of PINs: operations U46 and U67 to U77."""

from __future__ import annotations

import pytest

from tests.support.accounts.pinned import (
    OTHER,
    PIN,
    PINS,
    REQUIRED,
    RIGHT,
    WITHOUT_LOGIN,
    WRONG,
    after_session_expiry,
    answer,
    by_code,
    by_link,
    change,
    code_guessed,
    code_locked,
    code_over,
    code_used,
    expired_pin_auth_token,
    first,
    link_over,
    link_used,
    lock,
    mailed_code,
    mailed_link,
    mails,
    not_this,
    pin_auth_token,
    pinned,
    session,
    sign_in_with_pin,
    texted,
    texts,
    twice,
    two_answers,
    unanswered,
    unknown,
)
from tests.support.operation_cases.cases import PAGE, STRANGE_PAGE, Answer, Ask, Refusal, once, refusals
from tests.support.operation_cases.shapes import LOGIN, POSTED, POSTED_SMS
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer, answered

ONE_MAIL = {**PINS, "sending": {"mails": {"amount": 1, "minutes": 43_200}}}
REFUSALS: list[Refusal] = [
    *refusals(
        "U46", (1245, lambda who: who.call("U46", session_token="x"), PINS), (1246, after_session_expiry("U46"), PINS)
    ),
    *refusals(
        "U67",
        (1233, lambda who: sign_in_with_pin(who, "x")),
        (1244, lambda who: sign_in_with_pin(who, "x"), WITHOUT_LOGIN),
        (1245, lambda who: sign_in_with_pin(who, "x"), PINS),
        (1246, after_session_expiry("U67"), PINS),
        (1235, lambda who: sign_in_with_pin(who, answered(who.logs_in())["session_token"]), PINS),
        (1236, lambda who: sign_in_with_pin(who, session(who), WRONG), PINS),
    ),
    *refusals(
        "U68",
        (1233, lambda who: first(who, "x")),
        (1239, lambda who: first(who, "x"), REQUIRED),
        (1240, expired_pin_auth_token, REQUIRED),
        (1234, lambda who: first(who, pin_auth_token(who), None), REQUIRED),
    ),
    *refusals(
        "U69",
        (1233, change()),
        (1235, change(), PINS),
        (1241, lambda who: change(WRONG)(pinned(who)), PINS),
    ),
    *refusals(
        "U70",
        (938, unknown("U70"), PINS),
        (1038, lambda who: who.call("U70", {"email": "none"}), PINS),
        (1233, unknown("U70")),
        (1235, lambda who: who.call("U70", {"email": who.email}), PINS),
        (1248, mails("U70", resetpinurl=STRANGE_PAGE), PINS),
        (1122, twice(mails("U70")), ONE_MAIL),
    ),
    *refusals(
        "U71",
        (1022, unknown("U71"), PINS),
        (1233, unknown("U71")),
        (1235, lambda who: who.call("U71", {"username": who.username}), PINS),
        (1248, mails("U71", resetpinurl=STRANGE_PAGE), PINS),
        (1122, twice(mails("U71")), ONE_MAIL),
    ),
    *refusals(
        "U72",
        (908, lambda who: who.call("U72", {}), PINS),
        (1409, unknown("U72"), PINS),
        (1043, lambda who: who.call("U72", {"phone": "none"}), PINS),
        (1233, unknown("U72")),
        (1235, lambda who: who.call("U72", {"phone": who.phone}), PINS),
        (1123, twice(texts), {**PINS, "sending": {"sms": {"amount": 1, "minutes": 43_200}}}),
        (1149, twice(texts), {**PINS, "sending": {"sms_per_day": 1}}),
    ),
    *refusals(
        "U73",
        (1063, lambda who: by_link(who, "x"), PINS),
        (975, link_over, PINS),
        (1242, link_used, PINS),
        (1233, lambda who: by_link(who, "x")),
    ),
    *refusals(
        "U74",
        (1067, lambda who: by_code(who, not_this(texted(who))), PINS),
        (1068, code_used, PINS),
        (1069, code_over, PINS),
        (1070, code_guessed, {**PINS, "lockout": {"type": "none"}}),
        (1185, mailed_code, PINS),
        (1132, code_locked, lock("captcha")),
        (1148, code_locked, lock("security_question")),
        (1198, code_locked, lock("suspend")),
    ),
    *(
        refusal
        for row in ("U75", "U76", "U77")
        for refusal in refusals(
            row,
            (1091, answer(row, securityanswer={"car": "x"}), PINS),
            (1092, unanswered(row), PINS),
            (1093, answer(row, securityanswer={"pet": "x"}), PINS),
            (1094, two_answers(row), PINS),
            (1095, answer(row), {**PINS, "security_questions": {}}),
            (1233, answer(row)),
        )
    ),
]
NOT_HERE: dict[tuple[str, int], str] = {}
SESSION = {**LOGIN, "session_token": str, "session_expires_in": str}
ANSWERS: list[Answer] = [
    Answer("U46", lambda who: Ask(query={"session_token": session(who)}), POSTED, PINS),
    Answer("U67", lambda who: Ask({"pin": PIN}, {"session_token": session(who)}),
           {**SESSION, "SecondFactorAuthentication": None}, PINS, events=("Login",)),
    Answer("U68", lambda who: Ask({"pin": PIN}, {"pinauthtoken": pin_auth_token(who)}), SESSION, REQUIRED, events=("SetPIN",)),
    Answer("U69", lambda who: once(pinned(who), Ask({"oldpin": PIN, "newpin": OTHER})), POSTED, PINS, events=("ChangePIN",)),
    Answer("U70", lambda who: Ask({"email": pinned(who).email}, {"resetpinurl": PAGE}), POSTED, PINS),
    Answer("U71", lambda who: Ask({"username": pinned(who).username}, {"emailtemplate": "mine"}), POSTED, PINS),
    Answer("U72", lambda who: Ask({"phone": pinned(who).phone}, {"smstemplate": "mine"}), POSTED_SMS, PINS),
    Answer("U73", lambda who: Ask({"resettoken": mailed_link(who), "pin": OTHER}), POSTED, PINS, events=("ResetPIN",)),
    Answer("U74", lambda who: Ask({"otp": texted(who), "pin": OTHER, "phone": who.phone}, at={"type": "phone"}), POSTED,
           PINS, events=("ResetPIN",)),
    *(
        Answer(row, lambda who, name=name: Ask({name: getattr(pinned(who), name), "pin": OTHER, "securityanswer": RIGHT}),  # type: ignore[misc]  # a lambda's default has no type
               POSTED, PINS, is_flat=False, events=("ResetPIN",))
        for row, name in (("U75", "email"), ("U76", "phone"), ("U77", "username"))
    ),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)
