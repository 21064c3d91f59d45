"""Accounts that sign in by mail or text message, and the states in which the operations refuse."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import code_in, token_in
from tests.support.operation_cases.cases import AccountHolder, Act, Ask
from tests.support.operation_cases.shapes import LOGIN
from tests.support.tenants.tenant_server import answered

ON = {"passwordless_email": True, "passwordless_sms": True, "phone_login": True}


SESSION = {**LOGIN, "SecondFactorAuthentication": None}


UNKNOWN_EMAIL = "absent@example.test"


LIMITED = {"amount": 1, "minutes": 43_200}


POLICY = {"privacy_policy": {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}}


def on(**settings: Any) -> dict[str, Any]:
    return {**ON, **settings}


def wrong(otp: str) -> str:
    return "000000" if otp != "000000" else "111111"


def link(who: AccountHolder, **query: Any) -> str:
    answered(who.call("U49", email=who.email, **query))
    return token_in(who.mailed())


def by_link(who: AccountHolder, token: str) -> TestResponse:
    return who.call("U50", verificationtoken=token)


def twice(act: Act) -> Act:
    def done(who: AccountHolder) -> TestResponse:
        answered(act(who))
        return act(who)

    return done


class CodeSignIn:
    """A sign-in by code: the operation, and the identifier it is requested with."""

    def __init__(self, row: str, name: str) -> None:
        self.row, self.name = row, name

    def code(self, who: AccountHolder) -> str:
        values = getattr(who, self.name)
        if self.name == "phone":
            answered(who.call("U53", phone=values))
            return who.texted()
        answered(who.call("U49", **{self.name: values}))
        return code_in(who.mailed())

    def shown(self, who: AccountHolder, otp: str, **more: Any) -> TestResponse:
        return who.call(self.row, {self.name: getattr(who, self.name), "otp": otp, **more})

    def ask(self, who: AccountHolder) -> Ask:
        return Ask({self.name: getattr(who, self.name), "otp": self.code(who)})

    def guessed(self, who: AccountHolder, tries: int) -> TestResponse:
        right = self.code(who)
        for _ in range(tries):
            answer = self.shown(who, wrong(right))
        return answer

    def used(self, who: AccountHolder) -> TestResponse:
        otp = self.code(who)
        answered(self.shown(who, otp))
        return self.shown(who, otp)

    def after_expiry(self, who: AccountHolder) -> TestResponse:
        otp = self.code(who)
        who.advance_clock(minutes=11)
        return self.shown(who, otp)

    def locked(self, kind: str) -> tuple[int, Act, dict[str, Any]]:
        """Return the refusal of a code for an account with this kind of lockout."""

        def act(who: AccountHolder) -> TestResponse:
            otp = self.code(who)
            who.guesses(2)
            return self.shown(who, otp)

        number = {"captcha": 1132, "security_question": 1148, "suspend": 1198}[kind]
        return number, act, on(lockout={"type": kind, "maximum_failed_attempts": 2})

    def lines(self, *codes: int) -> list[tuple[Any, ...]]:
        """Return the refusals of a wrong, used, expired and revoked code, and of the lockouts."""
        unlocked = on(lockout={"type": "none"})
        acts: list[tuple[Act, dict[str, Any]]] = [
            (lambda who: self.guessed(who, 1), ON),
            (self.used, ON),
            (self.after_expiry, ON),
            (lambda who: self.guessed(who, 6), unlocked),
        ]
        stored = [(code, *line) for code, line in zip(codes, acts, strict=True)]
        return [*stored, self.locked("captcha"), self.locked("security_question"), self.locked("suspend")]


MAIL, USERNAME, SMS = CodeSignIn("U51", "email"), CodeSignIn("U52", "username"), CodeSignIn("U54", "phone")
