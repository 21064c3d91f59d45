"""Every refusal and response of smart login and of one-touch login: U55 to U61."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import token_in
from tests.support.operation_cases.cases import PAGE, AccountHolder, Act, Answer, Ask, account_holder, refusals, solved
from tests.support.operation_cases.passwordless import LIMITED, MAIL, SESSION, UNKNOWN_EMAIL, link, twice, wrong
from tests.support.operation_cases.shapes import POSTED, POSTED_SMS
from tests.support.operation_cases.smart_login import (
    SMART,
    TOUCH,
    Link,
    approved,
    begun_smart_login,
    click,
    guid,
    poll,
    solving,
    start,
    touch,
    touched,
)
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.races import RACERS, at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

NEW_PHONE = "+493055555555"
VERIFIED = {"IsPosted": True, "IsVerified": True}
NUMBERED = {**POSTED, "Number": str}


def polled(who: AccountHolder) -> TestResponse:
    stored = approved(who)
    answered(poll(who, stored))
    return poll(who, stored)


def over(who: AccountHolder) -> TestResponse:
    stored, _ = begun_smart_login(who)
    who.advance_clock(minutes=61)
    return poll(who, stored)


def clicked_after_the_poll(who: AccountHolder) -> TestResponse:
    stored, token = begun_smart_login(who)
    answered(click(who, token))
    answered(poll(who, stored))
    return click(who, token)


def clicked_twice(who: AccountHolder) -> TestResponse:
    _, token = begun_smart_login(who)
    return twice(lambda item: click(item, token))(who)


def click_after_expiry(who: AccountHolder) -> TestResponse:
    _, token = begun_smart_login(who)
    who.advance_clock(minutes=61)
    return click(who, token)


def ask_link(made: tuple[str, Link], name: str = "verificationtoken") -> Ask:
    return Ask(query={name: made[1], "number": made[1].number})


def texted(phone: str = NEW_PHONE) -> Act:
    return solving("U59", {"phone": phone, "name": "Ada"})


def code(who: AccountHolder) -> str:
    answered(texted()(who))
    return who.texted()


def shown(who: AccountHolder, otp: str) -> TestResponse:
    return who.call("U60", {"phone": NEW_PHONE}, otp=otp)


def used_code(who: AccountHolder) -> TestResponse:
    otp = code(who)
    answered(shown(who, otp))
    return shown(who, otp)


def expired_code(who: AccountHolder) -> TestResponse:
    otp = code(who)
    who.advance_clock(minutes=6)
    return shown(who, otp)


def closed_code(who: AccountHolder) -> TestResponse:
    otp = code(who)
    for _ in range(5):
        shown(who, wrong(otp))
    return shown(who, otp)


def touched_twice(who: AccountHolder) -> TestResponse:
    _, token = touched(who)
    return twice(lambda item: click(item, token, "U61"))(who)


def touch_after_expiry(who: AccountHolder) -> TestResponse:
    _, token = touched(who)
    who.advance_clock(minutes=61)
    return click(who, token, "U61")


def same_guid(who: AccountHolder) -> TestResponse:
    stored = guid()
    answered(start(who, stored))
    return start(who, stored)


def same_guid_touched(who: AccountHolder) -> TestResponse:
    stored = guid()
    answered(touch(UNKNOWN_EMAIL, stored)(who))
    return touch(who.email, stored)(who)


CLOSED = {**TOUCH, "registration": False}
REFUSALS = [
    *refusals(
        "U55",
        (1038, lambda who: start(who, email="no address"), SMART),
        (1135, start),
        (1136, same_guid, SMART),
        (1183, start, {**SMART, "email_login": None}),
        (938, lambda who: start(who, email=UNKNOWN_EMAIL), SMART),
        (1122, twice(start), {**SMART, "sending": {"mails": LIMITED}}),
    ),
    *refusals(
        "U56",
        (1139, lambda who: poll(who, begun_smart_login(who)[0]), SMART),
        (1140, over, SMART),
        (1137, polled, SMART),
    ),
    *refusals(
        "U57",
        (1032, lambda who: click(who, "123456"), SMART),
        (1063, lambda who: click(who, "A" * 43), SMART),
        (1135, lambda who: click(who, "A" * 43)),
        (1137, clicked_after_the_poll, SMART),
        (1138, clicked_twice, SMART),
        (975, click_after_expiry, SMART),
    ),
    *refusals(
        "U58",
        (982, lambda who: who.call("U58", {"email": UNKNOWN_EMAIL, "clientguid": guid()}), TOUCH),
        (1038, lambda who: who.call("U58", {"email": "no address", "clientguid": guid()}), TOUCH),
        (1136, same_guid_touched, TOUCH),
        (1146, lambda who: who.call("U58", {"email": UNKNOWN_EMAIL, "clientguid": guid()})),
        (1122, twice(touch(UNKNOWN_EMAIL)), {**TOUCH, "sending": {"mails": LIMITED}}),
        (1190, touch(UNKNOWN_EMAIL), CLOSED),
    ),
    *refusals(
        "U59",
        (982, lambda who: who.call("U59", {"phone": NEW_PHONE}), TOUCH),
        (1096, lambda who: who.call("U59", {"phone": "none"}), TOUCH),
        (1146, lambda who: who.call("U59", {"phone": NEW_PHONE})),
        (1123, twice(texted()), {**TOUCH, "sending": {"sms": LIMITED}}),
        (1149, twice(texted()), {**TOUCH, "sending": {"sms_per_day": 1}}),
    ),
    *refusals(
        "U60",
        (1067, lambda who: shown(who, wrong(code(who))), TOUCH),
        (1068, used_code, TOUCH),
        (1069, expired_code, TOUCH),
        (1070, closed_code, {**TOUCH, "lockout": {"type": "none"}}),
        (1146, lambda who: shown(who, "123456")),
    ),
    *refusals(
        "U61",
        (1145, touched_twice, TOUCH),
        (1063, lambda who: click(who, "A" * 43, "U61"), TOUCH),
        (975, touch_after_expiry, TOUCH),
    ),
]
NOT_HERE = {("U56", 1138): "what was approved and not asked for yet is the session"}


def with_captcha(row: str, body: dict[str, Any]) -> Any:
    return lambda who: Ask({**body, **solved(who.call(row, body))})


BOTH = ("Login", "Register")
ANSWERS = [
    Answer(
        "U55", lambda who: Ask(query={"email": who.email, "clientguid": guid(), "redirecturl": PAGE}), NUMBERED, SMART
    ),
    Answer("U56", lambda who: Ask(query={"clientguid": approved(who)}), SESSION, SMART, events=("Login",)),
    Answer("U57", lambda who: ask_link(begun_smart_login(who), "vtoken"), VERIFIED, SMART),
    Answer(
        "U58", lambda who: with_captcha("U58", {"email": UNKNOWN_EMAIL, "clientguid": guid()})(who), NUMBERED, TOUCH
    ),
    Answer("U59", with_captcha("U59", {"phone": NEW_PHONE}), POSTED_SMS, TOUCH),
    Answer("U60", lambda who: Ask({"phone": NEW_PHONE}, {"otp": code(who)}), SESSION, TOUCH, events=BOTH),
    Answer("U61", lambda who: ask_link(touched(who)), VERIFIED, TOUCH),
]


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


def test_new_account_is_created_when_device_polls(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **TOUCH)
    stored, token = touched(who)
    answered(click(who, token, "U61"))
    session = answered(poll(who, stored))
    assert session["Profile"]["FirstLogin"] is True
    assert session["Profile"]["EmailVerified"] is True
    assert session["Profile"]["Password"] is None
    again = touched(who)
    answered(click(who, again[1], "U61"))
    assert answered(poll(who, again[0]))["Profile"]["Uid"] == session["Profile"]["Uid"]


def test_short_or_unknown_client_guid_is_refused(new_tenant_server: NewTenantServer) -> None:
    """An attacker could guess a short guid."""
    who = account_holder(new_tenant_server, **SMART)
    assert refused(start(who, "short")) == (400, 908)
    assert refused(poll(who, guid())) == (403, 1140)


def test_texted_code_approves_smart_login(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SMART, phone_login=True)
    stored = guid()
    number = answered(who.call("U55", phone=who.phone, clientguid=stored))["Number"]
    answered(who.call("U57", vtoken=who.texted(), phone=who.phone, number=number))
    assert answered(poll(who, stored))["Profile"]["Uid"] == who.uid


def test_server_issued_tokens_approve_sign_in_and_register(new_tenant_server: NewTenantServer) -> None:
    """A20 and A21 issue the tokens that a mail or text message would contain."""
    who = account_holder(new_tenant_server, **SMART, **TOUCH, passwordless_email=True, passwordless_sms=True)

    def token(kind: str, **body: Any) -> str:
        return str(answered(who.managed("A20", {"email": who.email, **body}, at={"tokentype": kind}))["Token"])

    def otp(kind: str, **body: Any) -> str:
        return str(answered(who.managed("A21", {"phone": who.phone, **body}, at={"smsotptype": kind}))["Token"])

    answered(who.call("U50", verificationtoken=token("passwordlesslogintoken")))
    answered(who.call("U54", {"phone": who.phone, "otp": otp("passwordlesslogin")}))
    approvals: tuple[Callable[[str], TestResponse], ...] = (
        lambda item: click(who, token("autologin", clientguid=item)),
        lambda item: click(who, otp("smartlogin", clientguid=item), phone=who.phone),
        lambda item: click(who, token("onetouchlogin", clientguid=item, email=UNKNOWN_EMAIL, name="Ada"), "U61"),
    )
    for made in approvals:
        stored = guid()
        answered(made(stored))
        session = answered(poll(who, stored))
    assert session["Profile"]["FirstName"] == "Ada"
    new = {"phone": NEW_PHONE}
    answered(who.call("U60", new, otp=otp("onetouchlogin", **new)))


@pytest.mark.both_databases
def test_concurrent_uses_have_one_winner(new_tenant_server: NewTenantServer) -> None:
    """A guid, its link, its poll, a sign-in link, a sign-in code, and a code that registers a new account."""
    who = account_holder(new_tenant_server, **SMART, **TOUCH, passwordless_email=True)
    stored, begun = guid(), list[TestResponse]()

    def begin() -> TestResponse:
        begun.append(answer := start(who, stored))
        return answer

    assert raced(begin) == {200: 1, 1136: RACERS - 1}
    number = next(item.get_json()["Number"] for item in begun if item.status_code == 200)
    token = Link.about(token_in(who.mailed()), number)
    assert set(raced(lambda: click(who, token))) <= {200, 1138}
    assert raced(lambda: poll(who, stored)) == {200: 1, 1137: RACERS - 1}
    emailed = link(who)
    assert raced(lambda: who.call("U50", verificationtoken=emailed)) == {200: 1, 1062: RACERS - 1}
    otp = MAIL.code(who)
    won = raced(lambda: who.call("U51", {"email": who.email, "otp": otp}))
    assert won[200] == 1
    assert set(won) <= {200, 1186, 1188}, "earlier requests consume the attempts"
    new = code(who)
    won = raced(lambda: shown(who, new))
    assert won[200] == 1
    assert set(won) <= {200, 1067, 1068, 1070}


def raced(act: Any) -> Counter[int]:
    """Call it concurrently; return the count of each result code."""
    ends = at_once([act] * RACERS)
    return Counter(200 if item.status_code == 200 else refused(item)[1] for item in ends)


@pytest.mark.both_databases
def test_guid_and_link_of_another_tenant_are_refused(new_tenant_server: NewTenantServer) -> None:
    settings = {**SMART, **TOUCH, "passwordless_email": True}
    here, there = account_holder(new_tenant_server, **settings), account_holder(new_tenant_server, **settings)
    stored, token = begun_smart_login(here)
    answered(here.call("U49", email=here.email))
    assert refused(click(there, token)) == (403, 1063)
    assert refused(there.call("U50", verificationtoken=token_in(here.mailed()))) == (403, 1063)
    answered(click(here, token))
    assert refused(poll(there, stored)) == (403, 1140)
    answered(poll(here, stored))


def test_link_of_another_purpose_is_refused(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SMART, passwordless_email=True)
    _, smart = begun_smart_login(who)
    answered(who.call("U49", email=who.email))
    link = token_in(who.mailed())
    assert refused(who.call("U50", verificationtoken=smart)) == (403, 1063)
    assert refused(click(who, link)) == (403, 1063)
    assert refused(who.call("U34", {"resettoken": link, "password": "Quartz-lantern-58"})) == (403, 1063)


def test_link_to_former_email_is_refused(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SMART, passwordless_email=True)
    stored, token = begun_smart_login(who)
    answered(who.call("U49", email=who.email))
    link = token_in(who.mailed())
    answered(click(who, token))
    other = f"other.{who.email}"
    who.set_columns(email=other, emails=[{"Type": "Primary", "Value": other, "verified": True}])
    assert refused(who.call("U50", verificationtoken=link)) == (403, 975)
    assert refused(poll(who, stored)) == (403, 1140)


def test_new_password_revokes_links_and_pending_login(new_tenant_server: NewTenantServer) -> None:
    """The owner approved an attacker's login and changes the password before the attacker polls."""
    who = account_holder(new_tenant_server, **SMART, passwordless_email=True)
    stored = approved(who)
    answered(who.call("U49", email=who.email))
    link = token_in(who.mailed())
    answered(who.managed("A16", {"password": "Quartz-lantern-58"}))
    assert refused(who.call("U50", verificationtoken=link)) == (403, 975)
    answered(who.reset(resettoken=who.issued_token(), password="Basalt-whistle-33"))
    assert refused(poll(who, stored)) == (403, 1140)
