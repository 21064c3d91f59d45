"""Every refusal and response of unlocking, welcome mail, privacy policy and account deletion: U18 to U21, U25 to U28, A14."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import token_in
from tests.support.operation_cases.cases import PAGE, AccountHolder, Act, Answer, Ask, refusals, solved, without_sms
from tests.support.operation_cases.profile import nameless, twice
from tests.support.operation_cases.shapes import DELETED, POSTED, POSTED_SMS, PROFILE, ListOf
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer, answered

POLICY = {"privacy_policy": {"versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}}
HEX = "0" * 32


def lock(kind: str) -> dict[str, Any]:
    return {"lockout": {"type": kind, "maximum_failed_attempts": 2}}


def locked(act: Act) -> Act:
    """Call it after too many failed attempts."""

    def done(who: AccountHolder) -> TestResponse:
        assert who.bearer
        who.guesses(2)
        return act(who)

    return done


def leaving(who: AccountHolder) -> str:
    """Return the token of the deletion mail."""
    answered(who.own("U18"))
    return token_in(who.mailed())


def code(who: AccountHolder) -> str:
    """Return the code that deletes the account."""
    answered(who.own("U20"))
    return who.texted()


def by_code(who: AccountHolder, otp: str) -> TestResponse:
    return who.own("U21", {"otp": otp})


def wrong(otp: str) -> str:
    return "000000" if otp != "000000" else "111111"


def used(who: AccountHolder) -> TestResponse:
    otp = code(who)
    answered(by_code(who, otp))
    answered(who.tenant.send("PUT", f"/identity/v2/manage/account/{who.uid}", {"IsDeleted": False}))
    who.stored_token = ""
    return by_code(who, otp)


def after_expiry(who: AccountHolder) -> TestResponse:
    otp = code(who)
    who.advance_clock(minutes=6)
    return by_code(who, otp)


def closed(who: AccountHolder) -> TestResponse:
    otp = code(who)
    for _ in range(5):
        by_code(who, wrong(otp))
    return by_code(who, otp)


def with_code(who: AccountHolder) -> TestResponse:
    otp = code(who)
    who.guesses(2)
    return by_code(who, otp)


def texted_nowhere(who: AccountHolder) -> TestResponse:
    with without_sms(who):
        return who.own("U20")


def unlock(**shown: Any) -> Act:
    return locked(lambda who: who.own("U25", shown))


REFUSALS = [
    *refusals(
        "U18",
        (1340, lambda who: nameless(who).own("U18")),
        (1122, twice(lambda who: who.own("U18")), {"sending": {"mails": {"amount": 1, "minutes": 43_200}}}),
        (1173, lambda who: who.update_account(EmailVerified=False).own("U18")),
    ),
    *refusals("U19", (1119, lambda who: who.call("U19", deletetoken="unknown"))),
    *refusals(
        "U20",
        (2017, texted_nowhere),
        (1292, lambda who: nameless(who).own("U20")),
        (1123, twice(lambda who: who.own("U20")), {"sending": {"sms": {"amount": 1, "minutes": 43_200}}}),
        (1149, twice(lambda who: who.own("U20")), {"sending": {"sms_per_day": 1}}),
    ),
    *refusals(
        "U21",
        (1067, lambda who: by_code(who, wrong(code(who)))),
        (1068, used),
        (1069, after_expiry),
        (1070, closed, {"lockout": {"type": "none"}}),
        (1132, with_code, lock("captcha")),
        (1148, with_code, lock("security_question")),
        (1198, with_code, lock("suspend")),
    ),
    *refusals(
        "U25",
        (1079, locked(lambda who: who.own("U25")), lock("captcha")),
        (1221, lambda who: who.own("U25", {"securityanswer": {"pet": "grey owl"}})),
        (982, unlock(captcha_challenge="x", captcha_work="1"), lock("captcha")),
        (1091, unlock(securityanswer={"car": "x"}), lock("security_question")),
        (1094, unlock(securityanswer={"pet": "x"}), lock("security_question")),
    ),
    *refusals(
        "U26",
        (1122, twice(lambda who: who.own("U26")), {"sending": {"mails_by_type": {"welcome": {"amount": 1, "minutes": 43_200}}}}),
        (1340, lambda who: nameless(who).own("U26")),
    ),
    *refusals(
        "U27",
        (1195, lambda who: who.own("U27")),
        (1222, twice(lambda who: who.own("U27")), POLICY),
    ),
    *refusals("U28", (1195, lambda who: who.own("U28"))),
    *refusals(
        "A14",
        (1195, lambda who: who.managed("A14")),
        (984, lambda who: who.managed("A14", at={"uid": HEX}), POLICY),
    ),
]  # fmt: skip
NOT_HERE: dict[tuple[str, int], str] = {
    ("U18", 1032): "no address is given: the account's own is meant, and 1340 says that there is none",
}

ACCEPTED = {"Version": "1", "AcceptSource": "API", "AcceptDateTime": str}
HISTORY = {"Uid": str, "Current": ACCEPTED, "History": ListOf(ACCEPTED)}


def accepted(who: AccountHolder) -> Ask:
    answered(who.own("U27"))
    return Ask()


def shown(who: AccountHolder) -> Ask:
    """Return a request with a solved captcha for a locked account."""
    assert who.bearer
    who.guesses(2)
    return Ask(solved(who.logs_in()))


ANSWERS = [
    Answer("U18", lambda _: Ask(query={"deleteurl": PAGE}), {"IsDeleteRequestAccepted": True}),
    Answer("U19", lambda who: Ask(query={"deletetoken": leaving(who)}), POSTED, events=("DeleteAccount",)),
    Answer("U20", lambda _: Ask(), POSTED_SMS),
    Answer("U21", lambda who: Ask({"otp": code(who)}), DELETED, events=("DeleteAccount",)),
    Answer("U25", shown, POSTED, lock("captcha"), events=("UpdateProfile",)),
    Answer("U26", lambda _: Ask(query={"welcomeemailtemplate": "x"}), POSTED),
    Answer("U27", lambda _: Ask(), PROFILE, POLICY, events=("UpdateProfile",)),
    Answer("U28", accepted, HISTORY, POLICY),
    Answer("A14", accepted, HISTORY, POLICY),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)
