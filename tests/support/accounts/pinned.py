"""An account with a PIN: the token after a sign-in, the first PIN, and the reset of a forgotten PIN."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import code_in, token_in
from tests.support.operation_cases.cases import AccountHolder, Act
from tests.support.tenants.tenant_server import answered, refused

PIN, OTHER, WRONG = "270486", "905142", "111222"
PINS: dict[str, Any] = {"pin": {"is_on": True, "login": True}}
REQUIRED: dict[str, Any] = {"pin": {"is_on": True, "login": True, "required": True}}
WITHOUT_LOGIN: dict[str, Any] = {"pin": {"is_on": True}}
RIGHT = {"pet": "grey owl"}
UNKNOWN_ACCOUNT = {"email": "absent@example.test", "username": "absent", "phone": "+4930999999999"}


def lock(kind: str, most: int = 2) -> dict[str, Any]:
    return {**PINS, "lockout": {"type": kind, "maximum_failed_attempts": most}}


def pinned(who: AccountHolder, pin: str = PIN) -> AccountHolder:
    """Return an account whose PIN the tenant's server set."""
    return who.update_account(PINInfo={"PIN": pin})


def session(who: AccountHolder) -> str:
    """What a sign-in leaves behind for the next one."""
    return str(answered(pinned(who).logs_in())["session_token"])


def sign_in_with_pin(who: AccountHolder, token: str, pin: str = PIN, **query: Any) -> TestResponse:
    return who.call("U67", {"pin": pin}, session_token=token, **query)


def pin_auth_token(who: AccountHolder) -> str:
    """The token of a sign-in that waits for a PIN."""
    answer = who.logs_in()
    assert refused(answer) == (403, 1243)
    assert set(answer.get_json()) >= {"Data"}
    return str(answer.get_json()["Data"]["PINAuthToken"])


def first(who: AccountHolder, token: str, pin: str | None = PIN) -> TestResponse:
    return who.call("U68", {"pin": pin} if pin else {}, pinauthtoken=token)


def expired_pin_auth_token(who: AccountHolder) -> TestResponse:
    token = pin_auth_token(who)
    who.advance_clock(minutes=11)
    return first(who, token)


def after_session_expiry(row: str) -> Act:
    def act(who: AccountHolder) -> TestResponse:
        token = session(who)
        who.advance_clock(days=2)
        return who.call(row, {"pin": PIN} if row == "U67" else None, session_token=token)

    return act


def change(old: str = PIN, new: str = OTHER) -> Act:
    return lambda who: who.own("U69", {"oldpin": old, "newpin": new})


def mails(row: str, **query: Any) -> Act:
    """Request a mail as an account with a PIN."""
    name = {"U70": "email", "U71": "username"}[row]
    return lambda who: who.call(row, {name: getattr(pinned(who), name)}, **query)


def unknown(row: str) -> Act:
    name = {"U70": "email", "U71": "username", "U72": "phone"}[row]
    return lambda who: who.call(row, {name: UNKNOWN_ACCOUNT[name]})


def texts(who: AccountHolder) -> TestResponse:
    return who.call("U72", {"phone": pinned(who).phone})


def twice(act: Act) -> Act:
    def done(who: AccountHolder) -> TestResponse:
        answered(act(who))
        return act(who)

    return done


def mailed_link(who: AccountHolder) -> str:
    answered(mails("U70")(who))
    return token_in(who.mailed())


def by_link(who: AccountHolder, token: str, pin: str = OTHER) -> TestResponse:
    return who.call("U73", {"pin": pin, "resettoken": token})


def link_over(who: AccountHolder) -> TestResponse:
    token = mailed_link(who)
    who.advance_clock(days=2)
    return by_link(who, token)


def link_used(who: AccountHolder) -> TestResponse:
    token = mailed_link(who)
    answered(by_link(who, token))
    return by_link(who, token)


def texted(who: AccountHolder) -> str:
    answered(texts(who))
    return who.texted()


def by_code(who: AccountHolder, otp: str, kind: str = "phone", pin: str = OTHER, **more: Any) -> TestResponse:
    body = {"pin": pin, "otp": otp, kind: getattr(who, kind), **more}
    return who.tenant.send("PUT", f"/identity/v2/auth/pin/reset/otp/{kind}", body, with_secret=False)


def not_this(otp: str) -> str:
    return "000000" if otp != "000000" else "111111"


def code_used(who: AccountHolder) -> TestResponse:
    otp = texted(who)
    answered(by_code(who, otp))
    return by_code(who, otp)


def code_over(who: AccountHolder) -> TestResponse:
    otp = texted(who)
    who.advance_clock(minutes=6)
    return by_code(who, otp)


def code_guessed(who: AccountHolder) -> TestResponse:
    otp = texted(who)
    for _ in range(5):
        by_code(who, not_this(otp))
    return by_code(who, otp)


def code_locked(who: AccountHolder) -> TestResponse:
    otp = texted(who)
    who.guesses(2)
    return by_code(who, otp)


def mailed_code(who: AccountHolder) -> TestResponse:
    answered(mails("U70")(who))
    return by_code(who, not_this(code_in(who.mailed())), "email")


def answer(row: str, **members: Any) -> Act:
    name = {"U75": "email", "U76": "phone", "U77": "username"}[row]

    def act(who: AccountHolder) -> TestResponse:
        return who.call(row, {name: getattr(pinned(who), name), "pin": OTHER, "securityanswer": RIGHT, **members})

    return act


def unanswered(row: str) -> Act:
    def act(who: AccountHolder) -> TestResponse:
        pinned(who).set_columns(private={})
        name = {"U75": "email", "U76": "phone", "U77": "username"}[row]
        return who.call(row, {name: getattr(who, name), "pin": OTHER, "securityanswer": RIGHT})

    return act


def two_answers(row: str) -> Act:
    wrong = answer(row, securityanswer={"pet": "x", "city": "y"})
    return lambda who: wrong(who.update_account(SecurityQuestionAnswer={"city": "Ulm"}))
