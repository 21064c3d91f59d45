"""Every refusal and response of second factors by token and by id: M19 to M25, M27, M28, M31 to M34, M40 to M43, M45 to M47."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import code_in, other_code
from tests.support.authenticators.questions import ROW as SQA
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.operation_cases.cases import AccountHolder, Act, Answer, Ask, Refusal, refusals
from tests.support.operation_cases.expected_operations import ROWS
from tests.support.operation_cases.factor_login import (
    ALL,
    FACTORS,
    ONE,
    OTP,
    PHONE,
    RIGHT_ANSWERS,
    SMS,
    Has,
    mails,
    nothing,
    of,
    paper,
    questions,
    texted,
    texts,
    totp,
)
from tests.support.operation_cases.shapes import DELETED, POSTED, PROFILE, ExactObject, ListOf
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.services.identity_service import before_the_store
from tests.support.tenants.tenant_server import NewTenantServer, answered

UNKNOWN_UID = "0" * 32
NO_LOCK = {"lockout": {"type": "none"}}


def on(*without: str, **settings: Any) -> dict[str, Any]:
    """Return settings of a tenant with optional second factors that offers all but these."""
    made = {"two_factor": "optional", "second_factors": {**ALL, **dict.fromkeys(without, False)}}
    return {**made, **settings}


def own(row: str, body: Mapping[str, Any] | None = None, has: Has = nothing, **query: Any) -> Act:
    return lambda who: AccountHolder.own(has(of(who)), row, body, **query)


def managed(row: str, has: Has = nothing, body: Mapping[str, Any] | None = None, **query: Any) -> Act:
    """Call it by uid, the account's own unless another is given."""
    return lambda who: has(of(who)).managed(row, body, **{"uid": who.uid, **query})


def repeated(row: str, body: Mapping[str, Any]) -> Act:
    def act(who: AccountHolder) -> TestResponse:
        answered(who.own(row, body))
        return who.own(row, body)

    return act


def numbered(who: SecondFactorHolder) -> SecondFactorHolder:
    """Name a number that is not verified yet."""
    answered(AccountHolder.own(who, "M22", PHONE))
    return who


def mailed(who: SecondFactorHolder) -> SecondFactorHolder:
    answered(who.call("M23", emailid=who.email))
    return who


def code_of(who: SecondFactorHolder) -> dict[str, Any]:
    return {"emailid": who.email, "otp": code_in(who.mailed())}


def codes(row: str, numbers: tuple[int, int, int], sends: Has, shown: Any) -> list[Refusal]:
    """Return the refusals of a used code, an expired one, and one revoked by five wrong attempts."""
    used, over, closed = numbers

    def twice(account_holder: AccountHolder) -> TestResponse:
        who = sends(of(account_holder))
        body = shown(who)
        answered(AccountHolder.own(who, row, body))
        return AccountHolder.own(who, row, body)

    def old(account_holder: AccountHolder) -> TestResponse:
        who = sends(of(account_holder))
        body = shown(who)
        who.advance_clock(minutes=5)
        return AccountHolder.own(who, row, body)

    def guessed(account_holder: AccountHolder) -> TestResponse:
        who = sends(of(account_holder))
        body = shown(who)
        for _ in range(5):
            AccountHolder.own(who, row, {**body, "otp": other_code(body["otp"])})
        return AccountHolder.own(who, row, body)

    return refusals(row, (used, twice, on(**NO_LOCK)), (over, old, on()), (closed, guessed, on(**NO_LOCK)))


def older(row: str) -> Act:
    """Call the older path without the parameter that names the factor."""
    if "S" in ROWS[row].auth:
        return lambda who: who.tenant.send("DELETE", ROWS[row].also[-1], {}, uid=who.uid)
    return lambda who: who.tenant.send("DELETE", ROWS[row].also[-1], {}, bearer=who.bearer)


def by_id(*rows: str) -> list[Refusal]:
    return [
        refusal
        for row in rows
        for refusal in refusals(
            row, (984, managed(row, uid=UNKNOWN_UID), on()), (1214, managed(row, uid="<script>x</script>"), on())
        )
        if refusal.code in ROWS[row].codes
    ]


CAR = [{"QuestionId": "car", "Answer": "x"}, {"QuestionId": "pet", "Answer": "x"}]
REFUSALS: list[Refusal] = [
    *refusals("M19", (1097, own("M19")), (1098, own("M19"), on(*ALL))),
    *refusals(
        "M20",
        (1097, own("M20", {"authenticatorcode": "000000"})),
        (1099, own("M20", {"authenticatorcode": "000000"}), on()),
        (1102, own("M20", {"authenticatorcode": "000000"}, totp), on()),
        (1105, own("M20", {}), on()),
        (1279, own("M20", {"authenticatorcode": "000000"}), on("totp")),
    ),
    *codes("M21", (1068, 1069, 1070), numbered, texted),
    *refusals("M21", (1067, own("M21", OTP, numbered), on()), (1100, own("M21", OTP), on("sms")),
              (1117, own("M21", OTP), on())),
    *refusals(
        "M22",
        (1096, own("M22", {"phoneno2fa": "12"}), on()),
        (1100, own("M22", PHONE)),
        (1106, own("M22", PHONE, texts), on()),
        (1123, repeated("M22", PHONE), on(sending={"sms": ONE})),
        (1149, repeated("M22", PHONE), on(sending={"sms_per_day": 1})),
    ),
    *refusals(
        "M23",
        (1023, lambda who: who.call("M23", emailid="absent@example.test"), on()),
        (1032, lambda who: who.call("M23"), on()),
        (1038, lambda who: who.call("M23", emailid="no address"), on()),
        (1122, lambda who: mailed(of(who)).call("M23", emailid=who.email), on(sending={"mails": ONE})),
        (1256, lambda who: who.call("M23", emailid=who.email), on("email")),
    ),
    *codes("M24", (1186, 1187, 1188), mailed, code_of),
    *refusals("M24", (1067, own("M24", {"otp": "no code"}), on()), (1185, own("M24", OTP, mailed), on()), (1256, own("M24", OTP))),
    *refusals(
        "M25",
        (1091, own("M25", {SQA: CAR}), on()),
        (1257, own("M25", RIGHT_ANSWERS)),
        (1258, own("M25", RIGHT_ANSWERS, questions), on()),
        (1260, own("M25", {SQA: CAR[1:]}), on()),
    ),
    *refusals("M27", (1101, own("M27"), on()), (1127, own("M27", has=paper), on())),
    *refusals("M28", (1101, own("M28"), on()), (1128, own("M28", has=totp), on("backup_codes"))),
    *refusals("M31", (1099, own("M31"), on()), (1121, older("M31"), on())),
    *refusals("M32", (1117, own("M32"), on()), (1121, older("M32"), on())),
    *refusals("M33", (1121, own("M33"), on()), (1256, own("M33"), on("email"))),
    *refusals("M34", (1121, own("M34"), on()), (1257, own("M34"), on("security_questions"))),
    *by_id("M40", "M41", "M42", "M43", "M45", "M46", "M47"),
    *refusals("M41", (1121, older("M41"), on())),
    *refusals("M42", (1121, older("M42"), on())),
    *refusals("M45", (1101, managed("M45"), on()), (1127, managed("M45", paper), on())),
    *refusals("M46", (1101, managed("M46"), on())),
]  # fmt: skip
NOT_HERE: dict[tuple[str, int], str] = {}


def after_setup(has: Has, body: Any = None) -> Any:
    """Set the account up, then return a request with its data."""

    def prepare(account_holder: AccountHolder) -> Ask:
        who = has(of(account_holder))
        return Ask(body(who) if callable(body) else body)

    return prepare


def named(has: Has, body: Mapping[str, Any] | None = None) -> Any:
    """The same, by uid."""

    def prepare(account_holder: AccountHolder) -> Ask:
        return Ask(body, {"uid": has(of(account_holder)).uid})

    return prepare


SETTINGS, CODES = ExactObject(FACTORS | {"IsSecurityQuestionEnabled"}), {"BackUpCodes": ListOf(str, 10)}
APP, TEXT = {"authenticator": True}, {"otpauthenticator": True}
ANEW = {**RIGHT_ANSWERS, "ReplaceSecurityQuestionAnswer": True}
ANSWERS: list[Answer] = [
    Answer("M19", after_setup(nothing), SETTINGS, on()),
    Answer("M20", after_setup(SecondFactorHolder.scans, lambda who: {"authenticatorcode": who.shows()}), PROFILE, on()),
    Answer("M21", after_setup(numbered, texted), PROFILE, on()),
    Answer("M22", after_setup(nothing, PHONE), SMS, on()),
    Answer("M23", lambda who: Ask(query={"emailid": who.email}), POSTED, on()),
    Answer("M24", after_setup(mailed, code_of), PROFILE, on()),
    Answer("M25", after_setup(nothing, RIGHT_ANSWERS), POSTED, on(), is_flat=False),
    Answer("M25", after_setup(questions, ANEW), POSTED, on(), is_flat=False),
    Answer("M27", after_setup(totp), CODES, on()),
    Answer("M28", after_setup(paper), CODES, on()),
    Answer("M31", after_setup(totp, APP), DELETED, on()),
    Answer("M32", after_setup(texts, TEXT), DELETED, on()),
    Answer("M33", after_setup(mails), DELETED, on()),
    Answer("M34", after_setup(questions), DELETED, on()),
    Answer("M40", named(mails), DELETED, on()),
    Answer("M41", named(totp, APP), DELETED, on()),
    Answer("M42", named(texts, TEXT), DELETED, on()),
    Answer("M43", named(questions), DELETED, on()),
    Answer("M45", named(totp), CODES, on()),
    Answer("M46", named(paper), CODES, on()),
    Answer("M47", named(texts), SETTINGS, on()),
]


@before_the_store
@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@before_the_store
@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)
