"""Smart and one-touch login from its start to the click in the mail."""

from __future__ import annotations

import secrets
from typing import Any

from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import token_in
from tests.support.operation_cases.cases import AccountHolder, Act, solved
from tests.support.operation_cases.passwordless import UNKNOWN_EMAIL
from tests.support.tenants.tenant_server import answered, refused

SMART, TOUCH = {"smart_login": True}, {"one_touch": True, "phone_login": True}


class Link(str):
    """The token of an emailed link, with the number that the pending device shows."""

    number: str

    @classmethod
    def about(cls, token: str, number: str) -> Link:
        made = cls(token)
        made.number = number
        return made


def guid() -> str:
    return secrets.token_hex(16)


def start(who: AccountHolder, stored: str = "", **query: Any) -> TestResponse:
    return who.call("U55", **{"email": who.email, "clientguid": stored or guid(), **query})


def begun_smart_login(who: AccountHolder) -> tuple[str, Link]:
    """Start a smart login; return the device's guid and the token of the mailed link."""
    stored = guid()
    number = answered(start(who, stored))["Number"]
    return stored, Link.about(token_in(who.mailed()), number)


def click(who: AccountHolder, token: str, row: str = "U57", **query: Any) -> TestResponse:
    """Open a link, and type the number that the device shows."""
    number = {"number": token.number} if isinstance(token, Link) else {}
    return who.call(row, **{"verificationtoken": token, **number, **query})


def poll(who: AccountHolder, stored: str) -> TestResponse:
    return who.call("U56", clientguid=stored)


def approved(who: AccountHolder) -> str:
    stored, token = begun_smart_login(who)
    answered(click(who, token))
    return stored


def solving(row: str, body: dict[str, Any]) -> Act:
    """Call an operation that always requires a captcha, with its solution."""

    def act(who: AccountHolder) -> TestResponse:
        challenge = who.call(row, body)
        assert refused(challenge) == (403, 982)
        return who.call(row, {**body, **solved(challenge)})

    return act


def touch(email: str, stored: str = "", **more: Any) -> Act:
    return lambda who: solving("U58", {"email": email, "clientguid": stored or guid(), **more})(who)


def touched(who: AccountHolder, email: str = UNKNOWN_EMAIL) -> tuple[str, Link]:
    stored = guid()
    number = answered(touch(email, stored)(who))["Number"]
    return stored, Link.about(token_in(who.mailed(email)), number)
