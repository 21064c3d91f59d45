"""Every refusal and response of sign-in with a second factor and of its challenge token: M01, M03 to M11."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.customers import OLD
from tests.support.accounts.mailbox import code_in, other_code
from tests.support.authenticators.questions import ROW as SQA
from tests.support.authenticators.questions import listed
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.operation_cases.cases import AccountHolder, Act, Answer, Ask, Refusal, refusals, without_sms
from tests.support.operation_cases.factor_login import (
    ALL,
    APP,
    CODE,
    FACTORS,
    ONE,
    OTP,
    PAGE,
    PHONE,
    RIGHT_ANSWERS,
    SESSION,
    SMS,
    Has,
    ask,
    base,
    mails,
    nothing,
    of,
    on,
    paper,
    questions,
    texted,
    texts,
    totp,
)
from tests.support.operation_cases.shapes import POSTED, ExactObject
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.services.identity_service import before_the_store
from tests.support.tenants.tenant_server import NewTenantServer, answered

CHALLENGE = {
    "SecondFactorAuthentication": ExactObject(FACTORS | {"SecondFactorAuthenticationToken", "ExpireIn"}),
    "Profile": None,
    "access_token": "00000000-0000-0000-0000-000000000000",
    "refresh_token": None,
    "expires_in": "0001-01-01T00:00:00",
}
POLICY = {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}
SWITCHED = {"email_login": None, "username_login": False}
Body = Callable[[SecondFactorHolder, str], Mapping[str, Any] | None]


def does(row: str, body: Mapping[str, Any] | None, has: Has = nothing) -> Act:
    """Call it with a fresh challenge."""

    def act(account_holder: AccountHolder) -> TestResponse:
        who = has(of(account_holder))
        return ask(row, who, body, who.token())

    return act


def locks(row: str, body: Mapping[str, Any], has: Has) -> list[Refusal]:
    """Return the refusals of the last allowed attempt, one for each kind of lockout."""
    kinds = {1132: "captcha", 1148: "security_question", 1198: "suspend", 991: "block"}
    return refusals(
        row,
        *(
            (code, does(row, body, has), on(lockout={"type": kind, "maximum_failed_attempts": 1}))
            for code, kind in kinds.items()
        ),
    )


def sent_code(
    row: str, codes: tuple[int, int, int], has: Has, show: Callable[[SecondFactorHolder], dict[str, Any]]
) -> list[Refusal]:
    """Return the refusals of a used code, an expired one, and one revoked by five wrong attempts."""
    used, over, closed = codes

    def twice(account_holder: AccountHolder) -> TestResponse:
        who = has(of(account_holder))
        token, other = who.token(), who.token()
        body = show(who)
        answered(ask(row, who, body, token))
        return ask(row, who, body, other)

    def old(account_holder: AccountHolder) -> TestResponse:
        who = has(of(account_holder))
        token = who.token()
        body = show(who)
        who.advance_clock(minutes=5)
        return ask(row, who, body, token)

    def guessed(account_holder: AccountHolder) -> TestResponse:
        who = has(of(account_holder))
        token = who.token()
        body = show(who)
        for _ in range(5):
            ask(row, who, {**body, "otp": other_code(body["otp"])}, token)
        return ask(row, who, body, token)

    free = on("totp", lockout={"type": "none"})
    return refusals(row, (used, twice, free), (over, old, free), (closed, guessed, free))


def mailed(who: SecondFactorHolder) -> dict[str, Any]:
    return {"emailid": who.email, "otp": code_in(who.mailed())}


def with_members(**members: Any) -> Act:
    return lambda who: who.call("M01", {"email": who.email, "password": OLD, **members})


def by(kind: str) -> Act:
    return lambda who: who.call("M01", {kind: getattr(who, kind), "password": OLD})


def after(change: dict[str, Any], act: Act) -> Act:
    return lambda who: act(who.update_account(**change))


def guessed(kind: str, shown: dict[str, Any] | None = None) -> tuple[Act, dict[str, Any]]:
    def act(who: AccountHolder) -> TestResponse:
        who.call("M01", {"email": who.email, "password": "wrong"})
        return with_members(**(shown or {}))(who)

    return act, on(lockout={"type": kind, "maximum_failed_attempts": 1})


def unsendable(account_holder: AccountHolder) -> TestResponse:
    who = texts(of(account_holder))
    with without_sms(who):
        return who.signs_in()


def again(row: str, body: Mapping[str, Any] | None = None, has: Has = nothing) -> Act:
    """Request a second message."""

    def act(account_holder: AccountHolder) -> TestResponse:
        who = has(of(account_holder))
        token = who.token()
        answered(ask(row, who, body, token))
        return ask(row, who, body, token)

    return act


def resent(account_holder: AccountHolder) -> TestResponse:
    """Name a number, then request another message."""
    who = of(account_holder)
    token = who.token()
    answered(ask("M05", who, PHONE, token))
    return ask("M06", who, None, token)


def with_number(act: Callable[[SecondFactorHolder, str], TestResponse]) -> Act:
    def done(account_holder: AccountHolder) -> TestResponse:
        who = of(account_holder)
        token = who.token()
        answered(ask("M05", who, PHONE, token))
        return act(who, token)

    return done


REFUSALS: list[Refusal] = [
    *refusals(
        "M01",
        (938, with_members(email="absent@example.test"), on()),
        (966, with_members(password="wrong"), on()),
        (970, after({"EmailVerified": False}, with_members()), on()),
        (982, *guessed("captcha", {"captcha_challenge": "x", "captcha_work": "1"})),
        (991, after({"IsActive": False}, with_members()), on()),
        (1038, with_members(email="no address"), on()),
        (1066, after({"PhoneIdVerified": False}, by("phone")), on(**PAGE)),
        (1071, unsendable, on("totp", "email", "security_questions")),
        (1074, by("phone"), on(**SWITCHED)),
        (1077, by("email"), on(**SWITCHED, **PAGE)),
        (1091, *guessed("security_question", {"securityanswer": {"car": "x"}})),
        (1094, *guessed("security_question", {"securityanswer": {"pet": "x"}})),
        (1097, with_members()),
        (1098, with_members(), on(*ALL)),
        (1123, lambda who: texts(of(who)).signs_in(), on("totp", sending={"sms": ONE})),
        (1130, after({"DisableLogin": True}, with_members()), on()),
        (1132, *guessed("captcha")),
        (1148, *guessed("security_question")),
        (1149, lambda who: texts(of(who)).signs_in(), on("totp", sending={"sms_per_day": 1})),
        (1183, by("email"), on(**{**SWITCHED, "username_login": True})),
        (1194, with_members(), on(two_factor="optional", privacy_policy=POLICY)),
        (1198, *guessed("suspend")),
    ),
    *base("M03", APP), *locks("M03", APP, totp),
    *refusals("M03", (1099, does("M03", APP, texts), on()), (1102, does("M03", APP, totp), on()),
              (1105, does("M03", {}), on()), (1279, does("M03", APP), on("totp"))),
    *base("M04", OTP, texts), *locks("M04", OTP, texts), *sent_code("M04", (1068, 1069, 1070), texts, texted),
    *refusals("M04", (1067, does("M04", OTP, texts), on()), (1100, does("M04", OTP), on()),
              (1105, does("M04", {}), on()), (1277, does("M04", OTP), on("sms"))),
    *base("M05", PHONE),
    *refusals(
        "M05",
        (1096, does("M05", {"phoneno2fa": "12"}), on()),
        (1100, does("M05", PHONE), on("sms")),
        (1106, lambda who: does("M05", {"phoneno2fa": who.phone})(who), on(**PAGE)),
        (1123, again("M05", PHONE), on(sending={"sms": ONE})),
        (1149, again("M05", PHONE), on(sending={"sms_per_day": 1})),
        (1250, does("M05", PHONE, totp), on()),
    ),
    *base("M06", None),
    *refusals("M06", (1100, does("M06", None), on("sms")), (1117, does("M06", None), on()),
              (1123, resent, on(sending={"sms": ONE})), (1149, resent, on(sending={"sms_per_day": 1}))),
    *base("M07", {"emailid": "x@example.test"}),
    *refusals(
        "M07",
        (1023, does("M07", {"emailid": "x@example.test"}), on()),
        (1032, does("M07", {}), on()),
        (1038, does("M07", {"emailid": "no address"}), on()),
        (1122, lambda who: again("M07", {"email": who.email})(who), on(sending={"mails": ONE})),
        (1256, lambda who: does("M07", {"emailid": who.email}, totp)(who), on()),
    ),
    *base("M08", OTP), *locks("M08", OTP, mails), *sent_code("M08", (1186, 1187, 1188), mails, mailed),
    *refusals("M08", (1067, does("M08", {"otp": "no code"}), on()), (1185, does("M08", OTP, mails), on()),
              (1256, does("M08", OTP, totp), on())),
    *base("M09", CODE), *locks("M09", CODE, paper),
    *refusals("M09", (1128, does("M09", CODE, totp), on()), (1129, does("M09", CODE, paper), on())),
    *base("M10", RIGHT_ANSWERS),
    *refusals(
        "M10",
        (1091, does("M10", {SQA: [{"QuestionId": "car", "Answer": "x"}, {"QuestionId": "pet", "Answer": "x"}]}), on()),
        (1257, does("M10", RIGHT_ANSWERS), on("security_questions")),
        (1258, does("M10", RIGHT_ANSWERS, totp), on()),
        (1260, does("M10", {SQA: RIGHT_ANSWERS[SQA][:1]}), on()),
    ),
    *base("M11", RIGHT_ANSWERS, questions), *locks("M11", listed("x", "y"), questions),
    *refusals(
        "M11",
        (1093, does("M11", listed("Grey Owl", "x"), questions), on()),
        (1094, does("M11", {SQA: [{"QuestionId": "car", "Answer": "x"}, *RIGHT_ANSWERS[SQA]]}, questions), on()),
        (1257, does("M11", RIGHT_ANSWERS), on("security_questions")),
        (1259, does("M11", RIGHT_ANSWERS), on()),
        (1260, does("M11", {SQA: RIGHT_ANSWERS[SQA][:1]}, questions), on()),
    ),
]  # fmt: skip
NOT_HERE: dict[tuple[str, int], str] = {
    ("M01", 1072): "a message leaves after the answer, and is tried again until it is sent",
    ("M01", 1096): "a number that is none has no account: 938",
    ("M01", 1101): "an account without a factor enrols one or is signed in",
    ("M01", 1220): "which accounts may sign in where: the issue of organizations",
    ("M01", 1226): "consent is asked after the second factor, at its rows",
    ("M05", 1281): "tests/api/messages/test_voice_codes.py, through what cannot call",
}


def challenge(has: Has, body: Body) -> Callable[[AccountHolder], Ask]:
    """Get a challenge and return the request that answers it."""

    def prepare(account_holder: AccountHolder) -> Ask:
        who = has(of(account_holder))
        token = who.token()
        return Ask(body(who, token), {"secondfactorauthenticationtoken": token})

    return prepare


def begun(who: SecondFactorHolder, token: str) -> SecondFactorHolder:
    answered(ask("M05", who, PHONE, token))
    return who


DONE: Final = ("Login",)
TEXTS = on("totp")
ANSWERS: list[Answer] = [
    Answer("M01", lambda who: Ask({"email": who.email, "password": OLD}), CHALLENGE, on()),
    Answer("M01", lambda who: Ask({"username": who.username, "password": OLD}), SESSION,
           on(two_factor="optional"), events=DONE),
    Answer("M03", challenge(totp, lambda who, _: {"authenticatorcode": who.next_code()}), SESSION, on(), events=DONE),
    Answer("M03", challenge(totp, lambda who, _: {"googleauthenticatorcode": who.next_code()}), SESSION, on(), events=DONE),
    Answer("M04", challenge(texts, lambda who, _: texted(who)), SESSION, TEXTS, events=DONE),
    Answer("M04", challenge(nothing, lambda who, token: texted(begun(who, token))), SESSION, on(), events=DONE),
    Answer("M05", challenge(nothing, lambda *_: PHONE), SMS, on()),
    Answer("M06", challenge(texts, lambda *_: None), SMS, TEXTS),
    Answer("M07", challenge(nothing, lambda who, _: {"emailid": who.email}), POSTED, on()),
    Answer("M07", challenge(nothing, lambda who, _: {"email": who.challenged()["Email"][0]}), POSTED, on()),
    Answer("M08", challenge(mails, lambda who, _: mailed(who)), SESSION, TEXTS, events=DONE),
    Answer("M09", challenge(paper, lambda who, _: {"backupcode": who.codes[0]}), SESSION, on(), events=DONE),
    Answer("M10", challenge(nothing, lambda *_: RIGHT_ANSWERS), SESSION, on(), is_flat=False, events=DONE),
    Answer("M11", challenge(questions, lambda *_: RIGHT_ANSWERS), SESSION, on(), is_flat=False, events=DONE),
]  # fmt: skip


@before_the_store
@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@before_the_store
@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)
