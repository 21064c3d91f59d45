"""Outcomes of a sign-in in common terms, read from what a program, an application or a browser gets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from html import unescape
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from werkzeug.test import TestResponse

from app.contract import errors
from app.contract.second_factors.challenge import NO_SESSION
from app.contract.workflows.result_pages import RETURN_PATH
from tests.support.sign_in_paths.callers import unwatched
from tests.support.visitors.visitor import VisitedPage, Visitor, words


class Credential(StrEnum):
    """What a complete sign-in gives."""

    SESSION = "session cookie"
    ACCESS_TOKEN = "access token"
    CODE = "code"
    JWT = "JWT"
    ADDRESS = "address that signs in elsewhere"


@dataclass(frozen=True)
class SignedIn:
    """A complete sign-in."""

    by: Credential
    text: str = field(default="", repr=False, compare=False)
    """The token, code or JWT; empty for a session, whose cookie the browser has."""


@dataclass(frozen=True)
class NeedsFactor:
    """A sign-in that a second factor completes."""


@dataclass(frozen=True)
class NeedsAction:
    """A sign-in that continues once the account did what is required: the path of the page, or the program's error."""

    step: str


@dataclass(frozen=True)
class Refused:
    """A refusal: the number of the error, the error of OAuth, or the status and text of the page."""

    code: str


Outcome = SignedIn | NeedsFactor | NeedsAction | Refused
NO_CREDENTIAL: Final = Refused("no session")
"""The request succeeded, and signed nobody in."""
BLOCKED_PAGE: Final = "Account blocked: Get help to unblock it."
"""What our pages say to the owner of a blocked account."""
BLOCKED_LINK: Final = "You can’t sign in right now: Account blocked Get help to unblock it."
BLOCKED_STEP: Final = "Two-step verification: Account blocked Get help to unblock it."
"""What the second factor's page says to it."""
CLOSED_CODE: Final = "Wrong or expired code. Use the newest one."
"""What they say of a code whose account is blocked."""
_ACTIONS: Final = {
    str(error.code): error.__name__
    for error in (errors.PrivacyPolicyOutdated, errors.ConsentNeeded, errors.PinRequired)
}
_FACTORS: Final = {
    str(error.code)
    for error in (errors.RiskTextedCode, errors.RiskMailedCode, errors.RiskAsksQuestions, errors.TwoFactorOn)
}
_SIGN_IN_PAGE: Final = "/login"
_FACTOR_PAGES: Final = {"/second-factor", "/confirm"}
_ACTION_PAGES: Final = {"/privacy-policy", "/consent-forms", "/set-pin", "/missing-fields", RETURN_PATH}
_TOKEN_PARAMETERS: Final = ("access_token", "token", "lr-token")
_ALERT: Final = re.compile(r'<(p|div)[^>]* (?:role="alert"|class="problem")[^>]*>(.*?)</\1>', re.DOTALL)


def of_program(answer: TestResponse) -> Outcome:
    """Read the answer to a program."""
    body = answer.get_json() or {}
    if answer.status_code != 200:
        code = str(body.get("ErrorCode", body.get("errorCode", body.get("error", answer.status_code))))
        return NeedsAction(_ACTIONS[code]) if code in _ACTIONS else NeedsFactor() if code in _FACTORS else Refused(code)
    session = body.get("Data") or body  # a registration and a reset have other members beside the session
    if session.get("SecondFactorAuthentication"):
        return NeedsFactor()
    if signature := session.get("signature"):
        return SignedIn(Credential.JWT, signature)
    if address := session.get("loginUrl") or session.get("url"):
        return SignedIn(Credential.ADDRESS, address)
    token = session.get("access_token")
    return SignedIn(Credential.ACCESS_TOKEN, token) if token and token != NO_SESSION else NO_CREDENTIAL


def of_token_endpoint(answer: TestResponse) -> Outcome:
    """Read the answer to an application's back channel."""
    body = answer.get_json() or {}
    if answer.status_code != 200:
        return Refused(str(body.get("error", answer.status_code)))
    return SignedIn(Credential.ACCESS_TOKEN, body["access_token"])


def of_page(page: VisitedPage) -> Outcome:
    """Read where a browser is now: at an application, at a page that asks for more, or anywhere with or without a session."""
    if not page.address.startswith(page.visitor.home):
        return of_address(page.address)
    path = urlsplit(page.address).path
    if path in _FACTOR_PAGES and page.status == 200:
        return NeedsFactor()
    if path in _ACTION_PAGES and page.status == 200:
        return NeedsAction(path)
    if path == _SIGN_IN_PAGE:  # also in a browser whose session does not suffice
        return Refused(refusal_on(page))
    outcome = of_session(page.visitor)
    return outcome if isinstance(outcome, SignedIn) else Refused(refusal_on(page))


def of_session(visitor: Visitor) -> Outcome:
    """Read whether the browser has a session that opens the account pages."""
    with unwatched():
        is_signed_in = visitor.open("/profile").address.endswith("/profile")
    return SignedIn(Credential.SESSION) if is_signed_in else NO_CREDENTIAL


def of_address(address: str) -> Outcome:
    """Read what the address brings to an application."""
    parts = urlsplit(address)
    brought = dict(parse_qsl(parts.fragment or parts.query))
    if "error" in brought:
        return Refused(brought["error"])
    if "code" in brought:
        return SignedIn(Credential.CODE, brought["code"])
    if token := next((brought[name] for name in _TOKEN_PARAMETERS if name in brought), None):
        return SignedIn(Credential.ACCESS_TOKEN, token)
    return SignedIn(Credential.JWT, brought["id_token"]) if "id_token" in brought else NO_CREDENTIAL


def refusal_on(page: VisitedPage) -> str:
    """Return what the page says about a refusal: its heading, or "Sign in" for the sign-in page's, and its alerts."""
    alerts = [words(unescape(text)) for _, text in _ALERT.findall(page.html)]
    return ": ".join(("Sign in" if page.is_sign_in else page.heading, *alerts))
