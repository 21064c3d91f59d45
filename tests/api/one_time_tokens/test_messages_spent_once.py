"""A message with a link and a code opens one thing: whichever half is used first spends the other, for every purpose."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.messages.models import MailKind, MailTemplate
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import MAX_ATTEMPTS
from tests.support.accounts.mailbox import code_in, other_code, token_in
from tests.support.accounts.pinned import OTHER, PINS, by_code, pinned
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.operation_cases.smart_login import guid, solving
from tests.support.races import RACERS, at_once
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import NewTenantServer, answered

FREE = {"amount": 0, "minutes": 1}
SECOND = "second@example.test"
SETTINGS: dict[str, Any] = {
    **PINS, "email_verification_codes": True, "login_on_email_verification": True, "passwordless_email": True,
    "smart_login": True, "one_touch": True, "phone_login": True, "lockout": {"type": "none"},
    "sending": {"mails": FREE, "mails_in_all": FREE, "mails_by_type": {"forgotpassword": FREE}},
}  # fmt: skip
BOTH = '<p>#OTP# <a href="#Url#">Go</a></p>'


@dataclass(frozen=True)
class Message:
    """A link and a code that were sent together, and the number that a pending device shows."""

    link: str
    code: str
    number: str = ""


Use = Callable[[AccountHolder, Message], TestResponse]


@dataclass(frozen=True)
class MessageCase:
    """How the message of a purpose is asked for, and the operations that use its link or its code."""

    send: Callable[[AccountHolder], Message]
    links: tuple[Use, ...]
    codes: tuple[Use, ...]


def mailed(who: AccountHolder, to: str = "", number: str = "") -> Message:
    mail = who.mailed(to)
    return Message(token_in(mail), code_in(mail), number)


def verification(who: AccountHolder) -> Message:
    answered(who.update_account(EmailVerified=False).call("U03", {"email": who.email}))
    return mailed(who)


def added_email(who: AccountHolder) -> Message:
    if any(item["Value"] == SECOND for item in who.tenant.read(who.uid)["Email"]):
        answered(who.own("U24", {"email": SECOND}))
    answered(who.own("U23", {"email": SECOND, "type": "Secondary"}))
    return mailed(who, SECOND)


def password_reset(who: AccountHolder) -> Message:
    answered(who.forgot())
    return mailed(who)


def pin_reset(who: AccountHolder) -> Message:
    answered(who.call("U70", {"email": pinned(who).email}))
    return mailed(who)


def sign_in(who: AccountHolder) -> Message:
    answered(who.call("U49", email=who.email))
    return mailed(who)


def smart_login(who: AccountHolder) -> Message:
    number = answered(who.call("U55", email=who.email, clientguid=guid()))["Number"]
    return mailed(who, number=number)


def one_touch(who: AccountHolder) -> Message:
    number = answered(solving("U58", {"email": who.email, "clientguid": guid()})(who))["Number"]
    return mailed(who, number=number)


def by_query(row: str, name: str = "verificationtoken") -> Use:
    return lambda who, sent: who.call(row, **{name: sent.link}, **({"number": sent.number} if sent.number else {}))


def new_password() -> str:
    return f"Quartz-{secrets.token_hex(4)}"


def by_typed(row: str, **more: str) -> Use:
    return lambda who, sent: who.call(row, {"email": who.email, "otp": sent.code, **more})


def by_approval(row: str) -> Use:
    return lambda who, sent: who.call(row, vtoken=sent.code, email=who.email, number=sent.number)


CASES: dict[Purpose, MessageCase] = {
    Purpose.EMAIL: MessageCase(
        verification,
        (by_query("U05"),),
        (by_typed("U06"), lambda who, sent: who.call("U05", email=who.email, otp=sent.code)),
    ),
    Purpose.ADD_EMAIL: MessageCase(
        added_email,
        (by_query("U05"),),
        (lambda who, sent: who.call("U06", {"email": SECOND, "otp": sent.code}),),
    ),
    Purpose.RESET_PASSWORD: MessageCase(
        password_reset,
        (lambda who, sent: who.call("U34", {"resettoken": sent.link, "password": new_password()}),),
        (lambda who, sent: who.call("U34", {"email": who.email, "otp": sent.code, "password": new_password()}),),
    ),
    Purpose.RESET_PIN: MessageCase(
        pin_reset,
        (lambda who, sent: who.call("U73", {"resettoken": sent.link, "pin": OTHER}),),
        (lambda who, sent: by_code(who, sent.code, "email"),),
    ),
    Purpose.SIGN_IN: MessageCase(
        sign_in,
        (by_query("U50"),),
        (
            by_typed("U51"),
            lambda who, sent: who.call("U52", {"username": who.username, "otp": sent.code}),
        ),
    ),
    Purpose.SMART_LOGIN: MessageCase(smart_login, (by_query("U57"),), (by_approval("U57"),)),
    Purpose.ONE_TOUCH: MessageCase(
        one_touch, (by_query("U61"), by_query("U57")), (by_approval("U61"), by_approval("U57"))
    ),
}
ONE_HALF: Mapping[Purpose, str] = {
    Purpose.PHONE: "a text message has a code",
    Purpose.ADD_PHONE: "a text message has a code",
    Purpose.FACTOR_SMS: "a text message has a code",
    Purpose.FACTOR_EMAIL: "the mail has a code",
    Purpose.STEP_UP_EMAIL: "the mail has a code",
    Purpose.RESET_PASSKEY: "the mail has a link",
    Purpose.ALARM: "the mail has a link",
    Purpose.CAPTCHA: "the mail has a link",
    Purpose.DELETE_ACCOUNT: "the mail has a link, the text message a code, and there is one account to delete",
}
_SAME_OPERATION = ((Purpose.EMAIL, Purpose.ADD_EMAIL), (Purpose.SMART_LOGIN, Purpose.ONE_TOUCH))
SHARED = dict(_SAME_OPERATION) | {second: first for first, second in _SAME_OPERATION}
"""Purposes whose operations take the messages of the other one too."""
PURPOSES = pytest.mark.parametrize("purpose", CASES)


@pytest.fixture
def who(new_tenant_server: NewTenantServer) -> AccountHolder:
    holder = account_holder(new_tenant_server, **SETTINGS)
    kinds = (MailKind.SMART_LOGIN, MailKind.ONE_TOUCH)
    add_templates(holder.tenant, *(MailTemplate(type=kind, subject="Both", html=BOTH) for kind in kinds))
    return holder


def test_every_purpose_is_in_the_table() -> None:
    assert set(CASES) | set(ONE_HALF) == set(Purpose)
    assert not set(CASES) & set(ONE_HALF)


@pytest.mark.both_databases("first")
@PURPOSES
def test_second_half_of_a_message_is_refused(purpose: Purpose, who: AccountHolder, subtests: pytest.Subtests) -> None:
    case = CASES[purpose]
    pairs = [(link, code) for link in case.links for code in case.codes]
    uses = [*pairs, *((code, link) for link, code in pairs)]
    uses += [(code, other) for code in case.codes for other in case.codes]
    uses += [(link, other) for link in case.links for other in case.links]
    for number, (first, second) in enumerate(uses):
        with subtests.test(str(number)):
            sent = case.send(who)
            answered(first(who, sent))
            assert second(who, sent).status_code == 403


@pytest.mark.both_databases
@PURPOSES
def test_raced_link_and_code_have_one_winner(purpose: Purpose, who: AccountHolder) -> None:
    case = CASES[purpose]
    sent = case.send(who)
    acts = [partial(case.links[0], who, sent), partial(case.codes[0], who, sent)] * (RACERS // 2)
    results = Counter(answer.status_code for answer in at_once(acts))
    assert results == {200: 1, 403: RACERS - 1}


@PURPOSES
def test_wrong_codes_leave_the_link_of_a_message(purpose: Purpose, who: AccountHolder) -> None:
    case = CASES[purpose]
    sent = case.send(who)
    guess = Message(sent.link, other_code(sent.code), sent.number)
    for _ in range(MAX_ATTEMPTS):
        assert case.codes[0](who, guess).status_code == 403
    assert case.codes[0](who, sent).status_code == 403
    answered(case.links[0](who, sent))


@PURPOSES
def test_newer_message_ends_link_and_code_of_the_older(purpose: Purpose, who: AccountHolder) -> None:
    case = CASES[purpose]
    older, newer = case.send(who), case.send(who)
    assert case.links[0](who, older).status_code == 403
    if older.code != newer.code:
        assert case.codes[0](who, older).status_code == 403
    answered(case.codes[0](who, newer))


@PURPOSES
def test_message_opens_nothing_of_another_purpose(
    purpose: Purpose, who: AccountHolder, subtests: pytest.Subtests
) -> None:
    sent = CASES[purpose].send(who)
    for other in set(CASES) - {purpose, SHARED.get(purpose)}:
        with subtests.test(other.value):
            for use in (*CASES[other].links, *CASES[other].codes):
                assert use(who, sent).status_code == 403
    answered(CASES[purpose].links[0](who, sent))


@pytest.mark.parametrize("row", ["U05", "U50", "U57", "U61"])
def test_scanned_link_leaves_the_message_unused(row: str, who: AccountHolder) -> None:
    """Mail scanners send HEAD; our mails lead to pages, which a GET does not use up."""
    purpose = {"U05": Purpose.EMAIL, "U50": Purpose.SIGN_IN, "U57": Purpose.SMART_LOGIN, "U61": Purpose.ONE_TOUCH}[row]
    case = CASES[purpose]
    sent = case.send(who)
    path = case.links[0](who, Message("A" * 43, sent.code, sent.number)).request.path
    looked = who.tenant.send("HEAD", path, with_secret=False, verificationtoken=sent.link, number=sent.number or None)
    assert looked.status_code == 200
    answered(case.codes[0](who, sent))
