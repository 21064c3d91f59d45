"""Every refusal and response of verification and availability: operations U03 to U09, and tokens issued to servers: A17 to A21."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import code_in, sent_messages, token_in
from tests.support.accounts.registering import primary
from tests.support.operation_cases.cases import (
    PAGE,
    STRANGE_PAGE,
    AccountHolder,
    Act,
    Answer,
    Ask,
    account_holder,
    once,
    refusals,
)
from tests.support.operation_cases.shapes import LOGIN, POSTED
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

CODES = {"email_verification_codes": True}
WITH_CODES = {"IsPosted": True, "UUID": str}
SESSION = {**CODES, "login_on_email_verification": True}
LIMITED = {"sending": {"mails": {"amount": 1, "minutes": 43_200}}}


def unverified(who: AccountHolder) -> AccountHolder:
    """Mark the email as unverified."""
    return who.update_account(EmailVerified=False)


def link(who: AccountHolder) -> str:
    """Return the token of a mailed link."""
    answered(unverified(who).call("U03", {"email": who.email}))
    return token_in(who.mailed())


def code(who: AccountHolder) -> str:
    answered(unverified(who).call("U03", {"email": who.email}))
    return code_in(who.mailed())


def by_link(who: AccountHolder, token: str) -> TestResponse:
    return who.call("U05", verificationtoken=token)


def by_code(who: AccountHolder, otp: str, **more: Any) -> TestResponse:
    return who.call("U06", {"email": who.email, "otp": otp, **more})


def used(who: AccountHolder) -> TestResponse:
    token = link(who)
    answered(by_link(who, token))
    return by_link(who, token)


def after_expiry(who: AccountHolder) -> TestResponse:
    token = link(who)
    who.advance_clock(hours=73)
    return by_link(who, token)


def of_the_blocked(who: AccountHolder) -> TestResponse:
    token = link(who)
    return by_link(who.update_account(IsActive=False), token)


def verified_meanwhile(who: AccountHolder) -> TestResponse:
    token = link(who)
    return by_link(who.update_account(EmailVerified=True), token)


def used_code(who: AccountHolder) -> TestResponse:
    otp = code(who)
    answered(by_code(who, otp))
    return by_code(who, otp)


def expired_code(who: AccountHolder) -> TestResponse:
    otp = code(who)
    who.advance_clock(minutes=6)
    return by_code(who, otp)


def guessed(who: AccountHolder, tries: int) -> TestResponse:
    right = code(who)
    for _ in range(tries):
        answer = by_code(who, "000000" if right != "000000" else "111111")
    return answer


def locked(kind: str) -> tuple[int, Act, dict[str, Any]]:
    """Return the refusal of a code for an account with this kind of lockout."""

    def act(who: AccountHolder) -> TestResponse:
        otp = code(who)
        who.guesses(2)
        return by_code(who, otp)

    number = {"captcha": 1132, "security_question": 1148, "suspend": 1198}[kind]
    return number, act, {**CODES, "lockout": {"type": kind, "maximum_failed_attempts": 2}}


def twice(act: Act) -> Act:
    def done(who: AccountHolder) -> TestResponse:
        answered(act(who))
        return act(who)

    return done


def often(act: Act) -> Act:
    """Call it more often than an account may in an hour."""

    def done(who: AccountHolder) -> TestResponse:
        for _ in range(21):
            answer = act(who)
        return answer

    return done


def again(who: AccountHolder) -> TestResponse:
    return unverified(who).call("U03", {"email": who.email})


def token(who: AccountHolder) -> TestResponse:
    return who.managed("A17", {"email": who.email})


def verify(who: AccountHolder) -> TestResponse:
    return unverified(who).managed("A18", {"email": who.email})


def vtoken(who: AccountHolder) -> TestResponse:
    return unverified(who).managed("A19", email=who.email, vtype="email")


def typed(kind: str, **body: Any) -> Act:
    return lambda who: who.managed("A20", {"email": who.email, **body}, at={"tokentype": kind})


def texted(kind: str, **body: Any) -> Act:
    return lambda who: who.managed("A21", {"phone": who.phone, "uid": who.uid, **body}, at={"smsotptype": kind})


UNKNOWN_EMAIL = "absent@example.test"
OFF = {"email_verification": "disabled"}
PHONE = {"phone_login": True}
REFUSALS = [
    *refusals(
        "U03",
        (938, lambda who: who.call("U03", {"email": UNKNOWN_EMAIL})),
        (1025, lambda who: who.call("U03", {"email": who.email})),
        (1034, again, OFF),
        (1038, lambda who: who.call("U03", {"email": "no address"})),
        (1122, twice(again), LIMITED),
        (1249, lambda who: who.call("U03", {"email": who.email}, verificationurl=STRANGE_PAGE)),
    ),
    *refusals("U04", (1038, lambda who: who.call("U04", email="no address"))),
    *refusals(
        "U05",
        (973, lambda who: by_link(who, link(who)[:-5])),
        (974, used),
        (975, after_expiry),
        (979, of_the_blocked),
        (1063, lambda who: by_link(who, "A" * 43)),
        (1126, verified_meanwhile),
    ),
    *refusals(
        "U06",
        (1185, lambda who: guessed(who, 1), CODES),
        (1186, used_code, CODES),
        (1187, expired_code, CODES),
        (1188, lambda who: guessed(who, 6), {**CODES, "lockout": {"type": "none"}}),
        (1237, lambda who: by_code(who, "123456")),
        locked("captcha"),
        locked("security_question"),
        locked("suspend"),
    ),
    *refusals(
        "U07",
        (1034, lambda who: who.own("U07"), OFF),
        (1025, lambda who: who.own("U07")),
        (1140, lambda who: who.call("U07", clientguid="unknown")),
    ),
    *refusals(
        "U08",
        (1074, lambda who: who.call("U08", phone=who.phone)),
        (1096, lambda who: who.call("U08", phone="none"), PHONE),
    ),
    *refusals(
        "U09",
        (1075, lambda who: who.call("U09")),
        (1204, lambda who: who.call("U09", username="a b")),
    ),
    *refusals(
        "A17",
        (938, lambda who: who.managed("A17", {"email": UNKNOWN_EMAIL})),
        (1141, lambda who: who.managed("A17", {"x": 1})),
        (1178, often(token)),
        (1122, twice(lambda who: who.managed("A17", {"email": who.email}, sendemail="true")),
         {"sending": {"mails_by_type": {"forgotpassword": {"amount": 1, "minutes": 43_200}}}}),
    ),
    *refusals(
        "A18",
        (938, lambda who: who.managed("A18", {"email": UNKNOWN_EMAIL})),
        (1126, lambda who: who.managed("A18", {"email": who.email})),
        (1034, verify, OFF),
        (1178, often(verify)),
    ),
    *refusals(
        "A19",
        (938, lambda who: who.managed("A19", email=UNKNOWN_EMAIL, vtype="email")),
        (1126, lambda who: who.managed("A19", email=who.email, vtype="email")),
        (1034, vtoken, OFF),
        (1178, often(vtoken)),
    ),
    *refusals(
        "A20",
        (1181, typed("nothing")),
        (938, typed("forgotpassword", email=UNKNOWN_EMAIL)),
        (984, typed("deleteuser", uid="0" * 32)),
        (1126, typed("emailverification")),
        (1178, often(typed("forgotpassword"))),
        (1059, typed("passwordlesslogin")),
        (1135, typed("autologintoken")),
        (1146, typed("onetouchlogin")),
        (1233, typed("forgotpin")),
    ),
    *refusals(
        "A21",
        (1182, texted("nothing"), PHONE),
        (1043, texted("forgotpassword", phone="none"), PHONE),
        (1074, texted("forgotpassword")),
        (1179, often(texted("forgotpassword")), PHONE),
        (1073, texted("phoneidverification"), PHONE),
    ),
]  # fmt: skip
NOT_HERE: dict[tuple[str, int], str] = {}

MADE = {"Token": str, "ExpiresIn": str, "IdentityProviders": ["Email"]}
TEXTED = {"Token": str, "ExpiresIn": str}
VERIFICATION = {"VerificationToken": str, "expires_in": str}
VERIFIED = {"IsPosted": True, "Data": LOGIN}
ANSWERS = [
    Answer("U03", lambda who: Ask({"email": unverified(who).email}, {"verificationurl": PAGE}), POSTED),
    Answer("U04", lambda who: Ask(query={"email": who.email.upper()}), {"IsExist": True}),
    Answer("U05", lambda who: Ask(query={"verificationtoken": link(who), "url": PAGE}), VERIFIED, SESSION,
           events=("EmailVerification", "Login")),
    Answer("U06", lambda who: Ask({"otp": code(who), "email": who.email}), VERIFIED, SESSION,
           events=("EmailVerification", "Login")),
    Answer("U07", lambda who: once(unverified(who), Ask(query={"emailtemplate": "x"})), WITH_CODES, CODES),
    Answer("U08", lambda _: Ask(query={"phone": "+49301"}), {"IsExist": False}, PHONE),
    Answer("U09", lambda who: Ask(query={"username": who.username.upper()}), {"IsExist": True}),
    Answer("A17", lambda who: Ask({"username": who.username}), {"ForgotToken": str, "IdentityProviders": ["Email"]}),
    Answer("A18", lambda who: Ask({"email": unverified(who).email}), VERIFICATION),
    Answer("A19", lambda who: Ask(query={"email": unverified(who).email, "vtype": "email"}), VERIFICATION),
    Answer("A20", lambda who: Ask({"username": who.username}, at={"tokentype": "forgotpassword"}), MADE),
    Answer("A21", lambda who: Ask({"phone": who.phone}, at={"smsotptype": "forgotpassword"}), TEXTED, PHONE),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


def test_email_path_verifies_and_reports_availability(new_tenant_server: NewTenantServer) -> None:
    """GET /auth/email: a token or a code verifies, an address alone is looked up, no parameter at all names the missing token."""
    who = account_holder(new_tenant_server, **CODES)
    otp = code(who)
    assert answered(who.call("U05", otp=otp, email=who.email)) == {"IsPosted": True, "Data": None}
    assert answered(who.call("U04", email="absent@example.test")) == {"IsExist": False}
    nothing = who.call("U04")
    assert refused(nothing) == (400, 908)
    assert "verificationtoken" in nothing.get_json()["Description"]


def test_code_uuid_replaces_email(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **CODES)
    for row in ("U05", "U06"):
        sent = answered(unverified(who).call("U03", {"email": who.email}))
        shown = {"otp": code_in(who.mailed()), "uuid": sent["UUID"]}
        answered(who.call("U05", **shown) if row == "U05" else who.call("U06", shown))
        assert who.tenant.read(who.uid)["EmailVerified"] is True


def test_pending_second_email_can_be_verified(new_tenant_server: NewTenantServer) -> None:
    """U03, U06: an email that was added or stated at registration is verified like the first one."""
    who = account_holder(new_tenant_server, **CODES)
    second = f"two.{who.email}"
    answered(who.own("U23", {"email": second, "type": "Secondary"}))
    assert answered(who.call("U04", email=second)) == {"IsExist": False}
    answered(who.call("U03", {"email": second}))
    answered(who.call("U06", {"email": second, "otp": code_in(who.mailed(second))}))
    assert second in str(who.tenant.read(who.uid)["Email"])


def test_server_issued_tokens_work_like_mailed_ones(new_tenant_server: NewTenantServer) -> None:
    who = unverified(account_holder(new_tenant_server, reset_password_codes=False))
    stored = len(sent_messages(who.tenant.services, who.tenant.tenant_id))
    answered(by_link(who, answered(verify(who))["VerificationToken"]))
    answered(by_link(unverified(who), answered(vtoken(who))["VerificationToken"]))
    answered(by_link(unverified(who), answered(typed("emailverification")(who))["Token"]))
    reset = {"resettoken": answered(typed("forgotpassword")(who))["Token"], "password": "Quartz-lantern-58"}
    answered(who.call("U34", reset))
    gone = answered(typed("deleteusertoken")(who))["Token"]
    assert len(sent_messages(who.tenant.services, who.tenant.tenant_id)) == stored + 2, (
        "a welcome, and that the password changed"
    )
    assert answered(who.call("U19", deletetoken=gone)) == POSTED


def test_server_issued_token_adds_email(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    made = answered(typed("addemail", uid=who.uid, email="two@example.test", type="Work")(who))
    answered(by_link(who, made["Token"]))
    stored = who.tenant.read(who.uid)["Email"]
    assert {"Type": "Work", "Value": "two@example.test"} in stored
    assert primary(who.email)[0] in stored


def test_server_issued_code_works_like_texted_one(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **PHONE)
    otp = answered(texted("forgotpassword")(who))["Token"]
    answered(who.call("U36", {"phone": who.phone, "otp": otp, "password": "Quartz-lantern-58"}))
    who.stored_token = ""
    otp = answered(texted("deleteuser")(who))["Token"]
    answered(who.own("U21", {"otp": otp}))


def test_server_issued_email_code_verifies(new_tenant_server: NewTenantServer) -> None:
    who = unverified(account_holder(new_tenant_server, **CODES))
    made = answered(typed("emailverification")(who))["Token"]
    assert made.isdigit()
    answered(by_code(who, made))
