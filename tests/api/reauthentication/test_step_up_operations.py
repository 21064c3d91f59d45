"""Every refusal and response of step-up: operations M63 to M69 and M71 to M77; and the rules of validation tokens."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.customers import NEW, OLD
from tests.support.accounts.mailbox import code_in
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.operation_cases.cases import AccountHolder, Act, Answer, Ask, Refusal, account_holder, once, refusals
from tests.support.operation_cases.expected_operations import ROWS
from tests.support.operation_cases.shapes import POSTED
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.races import RACERS, at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

OWN_2FA = "/identity/v2/auth/account/2fa"
PIN = "270486"
ALL = {"sms": True, "email": True, "security_questions": True}
FACTORS: dict[str, Any] = {"two_factor": "optional", "second_factors": ALL}
PINS: dict[str, Any] = {"pin": {"is_on": True}}
OFF: dict[str, Any] = {"two_factor": "optional", "second_factors": {**ALL, "step_up": False}}
KNOWN = [{"QuestionId": "pet", "Answer": "Grey Owl"}, {"QuestionId": "city", "Answer": "Ulm"}]
SVT = {"SecondFactorValidationToken": str, "ExpireIn": str}
STRANGE = "00000000-0000-4000-8000-000000000000"


def locking(kind: str) -> dict[str, Any]:
    return {**FACTORS, "lockout": {"type": kind, "maximum_failed_attempts": 1}}


def own(who: AccountHolder, method: str, at: str, body: Any = None, **query: Any) -> TestResponse:
    return who.tenant.send(method, f"{OWN_2FA}/{at}", body, bearer=who.bearer, **query)


def with_app(who: AccountHolder) -> SecondFactorHolder:
    return SecondFactorHolder(**vars(who)).enrols()


def app_code(who: AccountHolder) -> str:
    return with_app(who).next_code()


def texted(who: AccountHolder) -> str:
    """Enrol a number; return the code of a step-up that goes to it."""
    answered(own(who, "PUT", "sms/phone", {"phoneno2fa": "+4930555111222"}))
    answered(own(who, "PUT", "sms", {"otp": who.texted()}))
    who.advance_clock(seconds=40)
    answered(who.own("M63"))
    return who.texted()


def by_mail(who: AccountHolder) -> AccountHolder:
    answered(own(who, "GET", "email", emailid=who.email))
    answered(own(who, "PUT", "email", {"emailid": who.email, "otp": code_in(who.mailed())}))
    return who


def factor_mail(who: AccountHolder) -> str:
    answered(by_mail(who).own("M67", emailid=who.email))
    return code_in(who.mailed())


def plain_mail(who: AccountHolder) -> str:
    answered(who.own("M73", emailid=who.email))
    return code_in(who.mailed())


def with_questions(who: AccountHolder) -> AccountHolder:
    answered(own(who, "PUT", "securityquestionanswer", {"securityquestionanswer": KNOWN}))
    return who


def answers(*values: dict[str, str]) -> dict[str, Any]:
    return {"securityquestionanswer": list(values)}


def pinned(who: AccountHolder) -> AccountHolder:
    return who.update_account(PINInfo={"PIN": PIN})


def not_this(code: str) -> str:
    return "000000" if code != "000000" else "111111"


def calls(row: str, **body: Any) -> Act:
    return lambda who: who.own(row, body)


def earned(who: AccountHolder, row: str = "M71", **body: Any) -> str:
    return str(answered(who.own(row, body or {"password": OLD}))["SecondFactorValidationToken"])


def check(who: AccountHolder, row: str, token: str) -> TestResponse:
    return who.managed(row, {"secondfactorvalidationtoken": token})


def checked(who: AccountHolder, row: str, token: str) -> bool:
    return bool(answered(check(who, row, token))["IsValid"])


def sent(row: str, end: str) -> Act:
    """Send a code that is wrong, used, expired or revoked."""

    def act(who: AccountHolder) -> TestResponse:
        code = {"M65": texted, "M68": factor_mail, "M74": plain_mail}[row](who)
        body = {} if row == "M65" else {"emailid": who.email}
        if end == "wrong":
            code = not_this(code)
        elif end == "used":
            answered(who.own(row, {**body, "otp": code}))
        elif end == "over":
            who.advance_clock(minutes=6)
        else:
            for _ in range(5):
                who.own(row, {**body, "otp": not_this(code)})
        return who.own(row, {**body, "otp": code})

    return act


def at_a_lock(row: str) -> list[tuple[Any, ...]]:
    """Return the refusals of the attempt that locks the account."""

    def app(who: AccountHolder) -> TestResponse:
        return who.own("M64", {"authenticatorcode": not_this(app_code(who))})

    wrong = {"M64": app, "M71": calls("M71", password="wrong")}.get(row) or sent(row, "wrong")
    kinds = {1132: "captcha", 1148: "security_question", 1198: "suspend", 991: "block"}
    return [(code, wrong, locking(kind)) for code, kind in kinds.items()]


NO_LOCK = {**FACTORS, "lockout": {"type": "none"}}
MANY = {**FACTORS, "sending": {"mails": {"amount": 2, "minutes": 43_200}}}


def mailed_often(row: str) -> Act:
    def act(who: AccountHolder) -> TestResponse:
        if row == "M67":
            by_mail(who)
        for _ in range(3):
            answer = who.own(row, emailid=who.email)
        return answer

    return act


def texted_often(who: AccountHolder) -> TestResponse:
    texted(who)
    who.advance_clock(seconds=40)
    return who.own("M63")


def checks(row: str) -> list[tuple[Any, ...]]:
    path, body = ROWS[row].path, {"secondfactorvalidationtoken": STRANGE}

    def ask(who: AccountHolder, sent: Any = body, **query: Any) -> TestResponse:
        return who.tenant.send("POST", path.format(uid=who.uid), sent, **query)

    return [
        (965, lambda who: ask(who, "no object")),
        (902, lambda who: ask(who, apisecret=STRANGE)),
        (901, lambda who: ask(who, apikey=STRANGE)),
    ]


REFUSALS: list[Refusal] = [
    *refusals(
        "M63",
        (1101, lambda who: who.own("M63"), FACTORS),
        (1191, lambda who: who.own("M63"), OFF),
        (1123, texted_often, {**FACTORS, "sending": {"sms": {"amount": 2, "minutes": 43_200}}}),
    ),
    *refusals(
        "M64",
        (1099, calls("M64", authenticatorcode="123456"), FACTORS),
        (1102, lambda who: who.own("M64", {"authenticatorcode": not_this(app_code(who))}), FACTORS),
        (1191, calls("M64", authenticatorcode="123456"), OFF),
        (1192, calls("M64"), FACTORS),
        *at_a_lock("M64"),
    ),
    *refusals(
        "M65",
        (1067, sent("M65", "wrong"), FACTORS),
        (1068, sent("M65", "used"), FACTORS),
        (1069, sent("M65", "over"), FACTORS),
        (1070, sent("M65", "closed"), NO_LOCK),
        (1100, calls("M65", otp="123456"), {"two_factor": "optional"}),
        (1192, calls("M65"), FACTORS),
        *at_a_lock("M65"),
    ),
    *refusals(
        "M66",
        (1128, calls("M66", backupcode="x"), FACTORS),
        (
            1129,
            lambda who: with_app(who).backup_codes() and AccountHolder.own(who, "M66", {"backupcode": "x"}),
            FACTORS,
        ),
        (1192, calls("M66"), FACTORS),
    ),
    *refusals(
        "M67",
        (1032, lambda who: by_mail(who).own("M67"), FACTORS),
        (1256, lambda who: who.own("M67", emailid=who.email), FACTORS),
        (1122, mailed_often("M67"), MANY),
    ),
    *refusals(
        "M68",
        (908, calls("M68", otp="123456"), FACTORS),
        (901, lambda who: who.own("M68", {}, apikey=STRANGE), FACTORS),
        (1067, lambda who: who.own("M68", {"emailid": who.email, "otp": "no code"}), FACTORS),
        (1185, sent("M68", "wrong"), FACTORS),
        (1186, sent("M68", "used"), FACTORS),
        (1187, sent("M68", "over"), FACTORS),
        (1188, sent("M68", "closed"), NO_LOCK),
        (1256, lambda who: who.own("M68", {"emailid": who.email, "otp": "123456"}), FACTORS),
        *at_a_lock("M68"),
    ),
    *refusals(
        "M69",
        (1093, lambda who: with_questions(who).own("M69", answers(KNOWN[0], {**KNOWN[1], "Answer": "x"})), FACTORS),
        (
            1094,
            lambda who: with_questions(who).own("M69", answers(KNOWN[0], {"QuestionId": "car", "Answer": "x"})),
            FACTORS,
        ),
        (1257, lambda who: who.own("M69", answers(*KNOWN)), {"two_factor": "optional"}),
        (1259, lambda who: who.own("M69", answers(*KNOWN)), FACTORS),
        (1260, lambda who: with_questions(who).own("M69", answers(KNOWN[0])), FACTORS),
    ),
    *refusals("M71", (1205, calls("M71", password="wrong")), *at_a_lock("M71")),
    *refusals(
        "M72",
        (1236, lambda who: pinned(who).own("M72", {"pin": "111222"}), PINS),
        (1233, calls("M72", pin=PIN)),
        (1235, calls("M72", pin=PIN), PINS),
    ),
    *refusals(
        "M73",
        (1032, lambda who: who.own("M73")),
        (1023, lambda who: who.own("M73", emailid="somebody@example.test")),
        (1122, mailed_often("M73"), MANY),
    ),
    *refusals(
        "M74",
        (1185, sent("M74", "wrong")),
        (1186, sent("M74", "used")),
        (1187, sent("M74", "over")),
        (1188, sent("M74", "closed"), NO_LOCK),
        *at_a_lock("M74"),
    ),
    *refusals("M75", *checks("M75"), (1193, lambda who: check(who, "M75", "x"))),
    *refusals("M76", *checks("M76"), (1193, lambda who: check(who, "M76", "x"))),
    *refusals("M77", *checks("M77")),
]
NOT_HERE: dict[tuple[str, int], str] = {("M71", 967): "1205"}
CHALLENGE = {
    **dict.fromkeys(("SecondFactorAuthenticationToken", "ExpireIn"), str),
    **dict.fromkeys(("QRCode", "ManualEntryCode", "PushQRCode", "DuoAuthEndpoint", "OTPPhoneNo", "OTPStatus"), None),
    **dict.fromkeys(("EmailOTPStatus", "SecurityQuestions"), None),
    **dict.fromkeys(("IsGoogleAuthenticatorVerified", "IsAuthenticatorVerified"), True),
    **dict.fromkeys(("IsOTPAuthenticatorVerified", "IsEmailOtpAuthenticatorVerified"), False),
    **dict.fromkeys(("IsSecurityQuestionAuthenticatorVerified", "IsPushDeviceRegistered"), False),
    **dict.fromkeys(("IsDuoAuthenticatorVerified", "IsPasskeyAuthenticatorVerified"), False),
    "Email": list,
}
VALID = {"IsValid": True}
ANSWERS: list[Answer] = [
    Answer("M63", lambda who: once(with_app(who), Ask()), CHALLENGE, FACTORS),
    Answer("M64", lambda who: Ask({"authenticatorcode": app_code(who)}), SVT, FACTORS),
    Answer("M64", lambda who: Ask({"googleauthenticatorcode": app_code(who)}), SVT, FACTORS),
    Answer("M65", lambda who: Ask({"otp": texted(who)}), SVT, FACTORS),
    Answer("M66", lambda who: Ask({"backupcode": with_app(who).backup_codes()[0]}), SVT, FACTORS),
    Answer("M67", lambda who: Ask(query={"emailid": by_mail(who).email}), POSTED, FACTORS),
    Answer("M68", lambda who: Ask({"otp": factor_mail(who), "emailid": who.email}), SVT, FACTORS),
    Answer("M69", lambda who: once(with_questions(who), Ask(answers(*KNOWN))), SVT, FACTORS, is_flat=False),
    Answer("M71", lambda _: Ask({"password": OLD}), SVT),
    Answer("M72", lambda who: once(pinned(who), Ask({"pin": PIN})), SVT, PINS),
    Answer("M73", lambda who: Ask(query={"emailid": who.email.upper()}), POSTED),
    Answer("M74", lambda who: Ask({"otp": plain_mail(who), "emailid": who.email}), SVT),
    Answer("M75", lambda who: Ask({"secondfactorvalidationtoken": earned(who, "M64", authenticatorcode=app_code(who))}),
           VALID, FACTORS),
    Answer("M76", lambda who: Ask({"secondfactorvalidationtoken": earned(who)}), VALID),
    Answer("M77", lambda who: Ask({"secondfactorvalidationtoken": earned(pinned(who), "M72", pin=PIN)}), VALID, PINS),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> AccountHolder:
    return account_holder(new_tenant_server, **FACTORS, **PINS)


def test_validation_token_is_single_use_and_bound_to_kind(ada: AccountHolder) -> None:
    token = earned(ada)
    assert [checked(ada, row, token) for row in ("M75", "M77", "M76", "M76")] == [False, False, True, False]


def test_mailed_code_token_validates_as_factor(ada: AccountHolder) -> None:
    token = earned(ada, "M74", otp=plain_mail(ada), emailid=ada.email)
    assert checked(ada, "M75", token) is True


def test_validation_token_is_bound_to_account_and_tenant(
    ada: AccountHolder, new_tenant_server: NewTenantServer
) -> None:
    token = earned(ada)
    other = AccountHolder(ada.tenant, ada.tenant.create()["Uid"], "", "")
    bob = account_holder(new_tenant_server)
    assert [checked(who, "M76", token) for who in (other, bob, ada)] == [False, False, True]


@pytest.mark.both_databases
def test_validation_token_ends_with_time_and_new_password(ada: AccountHolder) -> None:
    token = earned(ada)
    ada.advance_clock(minutes=5)
    assert checked(ada, "M76", token) is False
    token = earned(ada)
    answered(ada.reset(resettoken=ada.issued_token(), password=NEW))
    assert checked(ada, "M76", token) is False
    assert refused(check(ada, "M77", STRANGE)) != (403, 1193)


@pytest.mark.both_databases
def test_concurrent_uses_of_validation_token_have_one_winner(ada: AccountHolder) -> None:
    token = earned(ada)
    assert at_once([lambda: checked(ada, "M76", token) for _ in range(RACERS)]).count(True) == 1


def test_used_app_code_is_refused(ada: AccountHolder) -> None:
    code = app_code(ada)
    earned(ada, "M64", authenticatorcode=code)
    assert refused(ada.own("M64", {"authenticatorcode": code})) == (403, 1102)


def test_step_up_does_not_enrol_factor(ada: AccountHolder) -> None:
    app = SecondFactorHolder(**vars(ada)).scans()
    assert refused(ada.own("M64", {"authenticatorcode": app.shows()})) == (403, 1099)


def test_step_up_token_does_not_sign_in(ada: AccountHolder) -> None:
    app = with_app(ada)
    begun = answered(ada.own("M63"))["SecondFactorAuthenticationToken"]
    assert refused(app.shows_code(app.next_code(), begun)) == (403, 1103)


def test_wrong_step_up_factors_count_with_wrong_passwords(new_tenant_server: NewTenantServer) -> None:
    most = {"lockout": {"type": "suspend", "maximum_failed_attempts": 3}}
    ada = pinned(account_holder(new_tenant_server, **PINS, **most))
    ada.guesses(1)
    assert refused(ada.own("M72", {"pin": "111222"})) == (401, 1236)
    assert refused(ada.own("M71", {"password": "wrong"})) == (403, 1198)
    assert refused(ada.logs_in()) == (403, 1198)


@pytest.mark.both_databases
def test_security_answer_unlocks_step_up(new_tenant_server: NewTenantServer) -> None:
    most = {"lockout": {"type": "security_question", "maximum_failed_attempts": 1}}
    ada = account_holder(new_tenant_server, **most)
    ada.own("M71", {"password": "wrong"})
    assert refused(ada.own("M71", {"password": OLD})) == (403, 1148)
    assert earned(ada, password=OLD, securityanswer={"pet": "grey owl"})
    assert answered(ada.logs_in())["access_token"]
