"""Accounts in every state, and an unknown subject, for tests that answers do not reveal accounts. Summaries of answers
leave out typed values and values that differ between requests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import Any

from flask import Flask
from sqlalchemy import update
from werkzeug.test import TestResponse

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.registering import primary
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer
from tests.support.visitors.captchas import worked
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import VisitedPage, Visitor

PASSWORD, WRONG = "Zebra-kettle-91", "Wrong-kettle-17"
PET, CITY, PIN = "Grey Owl", "Harbour", "270486"
QUESTIONS = {
    "pet": "Your first pet?",
    "city": "Where were you born?",
    "food": "What do you eat?",
    "car": "Your first car?",
}
STATES = (
    "known",
    "unverified",
    "registered",
    "blocked",
    "leaving",
    "no answers",
    "no password",
    "username only",
    "no pin",
)
UNKNOWN = "unknown"
OPEN_LIMITS = {
    "sign_in_per_minute_per_address": 0, "register_per_minute_per_address": 0, "forgot_per_minute_per_address": 0,
    "reset_per_minute_per_address": 0, "availability_per_minute_per_address": 0, "forgot_per_minute": 0,
    "passwordless_per_minute_per_address": 0,
}  # fmt: skip
HIDING: dict[str, Any] = {
    "hide_unknown_accounts": True, "email_login": True, "username_login": True, "phone_login": True,
    "passwordless_email": True, "passwordless_sms": True, "smart_login": True, "one_touch": True,
    "email_verification_codes": True, "reset_password_codes": True, "security_questions": QUESTIONS,
    "limits": OPEN_LIMITS, "captcha": {"work_bits": 8},
}  # fmt: skip
Summary = tuple[Any, ...]
_NUMBERS = count(10_000_000)
_VARIES = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[A-Z]{2}[0-9a-f]{32}|\d{4}-\d\d-\d\dT[\d:.]+Z|[A-Za-z0-9_.-]{40,}"
    r'|(?<="Number":")\d\d(?=")|(?<=number-shown" dir="ltr">)\d\d'  # on a waiting device or page
    r'|(?<=datetime=")[^"]+|\d+:\d\d(:\d\d)?(\s[AP]M)? UTC|(?<=--from:)\d+'  # a countdown
)


@lru_cache(4096)  # pages of a test share most lines
def _without_varying(line: str) -> str:
    return _VARIES.sub("…", line)


@dataclass
class Subject:
    """An account in some state, or the identifiers of no account."""

    tenant: TenantServer
    state: str
    number: int = field(default_factory=lambda: next(_NUMBERS))

    @property
    def email(self) -> str:
        return f"who{self.number}@example.test"

    @property
    def username(self) -> str:
        return f"who{self.number}"

    @property
    def phone(self) -> str:
        return f"+4930{self.number}"

    @property
    def names(self) -> dict[str, str]:
        """Every identifier; some accounts have only one of them."""
        return {"email": self.email, "username": self.username, "phone": self.phone}

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> TestResponse:
        return self.tenant.send(method, path, body, with_secret=False, **query)

    def set_columns(self, **columns: Any) -> None:
        """Change the account's row directly."""
        with UnitOfWork(self.tenant.services.database, self.tenant.tenant_id).separate_transaction() as work:
            where = (accounts.c.tenant_id == self.tenant.tenant_id, accounts.c.username == self.username)
            assert work.run(update(accounts).where(*where).values(**columns)).rowcount == 1

    def create(self) -> Subject:
        """Create the account in its state."""
        if self.state == UNKNOWN:
            return self
        if self.state == "registered":
            names = {"Email": primary(self.email), "UserName": self.username, "PhoneId": self.phone}
            *_, registered = self.register_with_captcha({"Password": PASSWORD, **names})
            assert registered.status_code == 200, registered.text
            return self
        only = self.state == "username only"
        is_verified = not only and self.state != "unverified"
        names = {} if only else {"Email": [{"Type": "Primary", "Value": self.email}], "PhoneId": self.phone}
        answers = {} if self.state == "no answers" else {"SecurityQuestionAnswer": {"pet": PET, "city": CITY}}
        self.tenant.create(
            UserName=self.username, EmailVerified=is_verified, PhoneIdVerified=is_verified, **names, **answers,
            **({} if self.state == "no pin" else {"PINInfo": {"PIN": PIN}}),
        )  # fmt: skip
        changed: dict[str, dict[str, Any]] = {
            "blocked": {"is_active": False},
            "leaving": {"is_deleted": True, "leaves_at": self.tenant.services.clock.now().replace(year=2099)},
            "no password": {"password_hash": None},
        }
        if self.state in changed:
            self.set_columns(**changed[self.state])
        return self

    def register_with_captcha(self, body: dict[str, Any]) -> Iterator[TestResponse]:
        """Register after a refusal that asks for a captcha; the alternative, a token, costs 15 ms per tenant on each side."""
        path = "/identity/v2/auth/register/captcha"
        refused = self.ask("POST", path, body)
        yield refused
        requested = refused.get_json()["Data"]["Captcha"]
        shown = {
            "captcha_challenge": requested["Token"],
            "captcha_work": worked(requested["WorkSeed"], requested["WorkBits"]),
        }
        yield self.ask("POST", path, {**body, **shown})

    def locked(self, name: str) -> Subject:
        """Try two wrong passwords, at a tenant where these lock the identifier; unknown identifiers lock as well."""
        for _ in range(2):
            self.ask("POST", "/identity/v2/auth/login", {name: self.names[name], "password": WRONG})
        return self

    def without_names(self, text: str) -> str:
        """Return a text without typed values, timestamps and random values."""
        for name, value in self.names.items():
            text = text.replace(value, name.upper())
        return "".join(_without_varying(line) for line in text.splitlines(keepends=True))

    def taken_down(self, answer: TestResponse) -> Summary:
        """Return status, headers, cookie names and body of an answer."""
        body = self.without_names(answer.text)
        if answer.is_json:
            body = json.dumps(_shape(json.loads(body)), sort_keys=True)
        headers = {name: value for name, value in answer.headers if name not in _IGNORED_HEADERS}
        shown = sorted((name, self.without_names(value)) for name, value in headers.items())
        cookies = sorted(item.partition("=")[0] for item in answer.headers.getlist("Set-Cookie"))
        return answer.status_code, tuple(shown), tuple(cookies), body


def browser_of(who: Subject, hub: Flask) -> Visitor:
    """Open a new browser at the tenant."""
    return Visitor(PlainClient(hub), who.tenant.services.settings.hub_url(who.tenant.name))


def page_summary(who: Subject, page: VisitedPage) -> Summary:
    """Return status, path, headers, cookie names and HTML of a page."""
    assert page.answer is not None
    shown = {name: value for name, value in page.answer.headers if name not in _IGNORED_HEADERS}
    headers = sorted((name, _OF_A_VISIT.sub("…", value)) for name, value in shown.items())
    cookies = sorted({_OF_A_VISIT.sub("…", name) for name in page.visitor.cookies("")})
    html = _PASSES.sub("SOON", _OF_A_VISIT.sub("…", who.without_names(page.html)))
    return page.status, page.address.partition("?")[0], tuple(headers), tuple(cookies), html


_OF_A_VISIT = re.compile(
    r"nonce[=-][^'\s>]+|ref(erence)? [0-9A-Z]{6,}|(?<=value=\")[^\"]{16,}(?=\")|(?<=attempt=)[\w.-]+|(?<=-)[\w-]{10,}"
    r"|<details.*?</details>|<fieldset.*?</fieldset>|(?<=dir=\"ltr\">)\d\d(?=<)",
    re.DOTALL,
)
_PASSES = re.compile(r"\d+ (second|minute)s?|data-seconds=\"\d+\"|data-[a-z-]+=\"\d+\"")
_IGNORED_HEADERS = frozenset(
    {"X-Gatehouse-Cost", "Set-Cookie", "Content-Length", "Date", "Retry-After"}
)  # the cost header exists in tests only


def _shape(body: Any) -> Any:
    """Return a body without captchas and the choice of security questions."""
    if isinstance(body, dict):
        return {name: "…" if name in ("Captcha", "LoginLockedTimeout") else _shape(item) for name, item in body.items()}
    if isinstance(body, list) and body and isinstance(body[0], dict) and "QuestionId" in body[0]:
        return ["some questions"]  # the questions differ per account
    return [_shape(item) for item in body] if isinstance(body, list) else body


def unknown_and_known(
    make: NewTenantServer, identifier: str = "username", **settings: Any
) -> tuple[Subject, list[Subject]]:
    """Return an unknown subject and one account in every state that has this identifier, at a new tenant.

    Any other identifier of an account with a username only is unknown, too.
    """
    tenant = make(**{**HIDING, **settings})
    others = {*([] if identifier == "username" else ["username only"]), *([] if "pin" in settings else ["no pin"])}
    states = [state for state in STATES if state not in others]
    return Subject(tenant, UNKNOWN), [Subject(tenant, state).create() for state in states]
