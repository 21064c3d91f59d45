"""Requests that the hub answers directly, and the same by Flask (decisions/0284, 0290, 0296). pytest loads it as a plugin.

A module whose tests run over both: `pytestmark = pytest.mark.usefixtures("direct_and_flask")`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from flask import Flask, request_started
from itsdangerous import TimestampSigner
from werkzeug.test import TestResponse

from app.contract import hub as contract
from app.contract import hub_second_factors as factors
from app.contract.hub import Next, RelyingPartyView, Step
from app.contract.hub_models import OrganizationLook, OtherSessions, Session
from app.contract.hub_recovery import forgot
from app.contract.hub_registration import register
from app.contract.organizations_models import MethodLimit
from app.hub.direct_pages import DirectPages
from app.hub.direct_posts import DirectPosts
from app.hub.direct_queries import DirectQueries
from app.hub.services import Services
from app.kit import randomness
from app.kit.client import Client, ResponseHeaders, ServiceUnavailable
from app.kit.instrumentation import REQUEST_ID
from app.kit.operation import AnyOperation
from tests.support.oauth_world import World
from tests.support.plain_client import PlainClient
from tests.support.visitor import Visitor

FORM = "application/x-www-form-urlencoded"
_COMPARED = {
    operation.name for operation in (contract.sign_in, factors.verify_factor, contract.authorize, register, forgot)
}
_THEN = re.compile(rb"\d\d:\d\d:\d\d")
_DRAWN = randomness.random_bytes, randomness.token
_COST = "api=1; sql=5; commits=1; hashes=1; signatures=0"


def flask_alone(*_: object) -> None:
    """Let Flask answer every request."""


def leave_to_flask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Flask answer every request from here on."""
    for way in (DirectPosts, DirectQueries, DirectPages):
        monkeypatch.setattr(way, "response", flask_alone)


@pytest.fixture(params=["direct", "flask"])
def direct_and_flask(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Flask answer every request in the second run of each test."""
    if request.param == "flask":
        leave_to_flask(monkeypatch)


@dataclass
class Call:
    operation: str
    request: Any
    visit: Any


@dataclass
class Answer:
    """What a browser gets, and what the hub asked for it."""

    response: TestResponse
    calls: list[Call]
    is_by_flask: bool

    @property
    def comparable(self) -> tuple[str, list[tuple[str, str]], bytes]:
        headers = [(name, _THEN.sub(b"then", value.encode()).decode()) for name, value in self.response.headers]
        return self.response.status, headers, _THEN.sub(b"then", self.response.get_data())


@dataclass
class Comparison:
    """One hub, whose operation `answers` as told; every other operation answers as it does."""

    hub: Flask
    patch: pytest.MonkeyPatch
    base_url: str
    outcome: Any = None
    """None: the service answers the direct way, and Flask gets the same answers."""
    failing: Exception | None = None
    """What the service answers with in place of its own answers, where the outcome is None."""
    calls: list[Call] = field(default_factory=list)
    given: list[tuple[str, Any, list[ResponseHeaders]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        identity = self.hub.extensions["gatehouse"].identity_client
        real = identity.for_visit
        self.patch.setattr(
            identity,
            "for_visit",
            lambda visit, on_response: _Answering(self, real, visit, on_response),
        )

    def both(self, outcome: Any, path: str, form: Any, **asked: Any) -> tuple[Answer, Answer]:
        """Post a form to the direct way, then to Flask alone."""
        kind = asked.pop("content_type", FORM)
        is_usual = kind == FORM and isinstance(form, dict) and form
        return self._both(outcome, path, {"data": form, **({} if is_usual else {"content_type": kind})}, **asked)

    def both_get(self, outcome: Any, path: str, **asked: Any) -> tuple[Answer, Answer]:
        """Ask the direct way, then Flask alone."""
        return self._both(outcome, path, None, **asked)

    def _both(self, outcome: Any, path: str, posted: dict[str, Any] | None, **asked: Any) -> tuple[Answer, Answer]:
        self.outcome, self.given = outcome, []
        now = self.hub.extensions["gatehouse"].now()
        with self.patch.context() as context:
            context.setattr(Services, "now", lambda _: now)  # cookies hold the second, and signed states
            context.setattr(TimestampSigner, "get_timestamp", lambda _: now)
            direct = self._asked(path, posted, **asked)
            leave_to_flask(context)
            return direct, self._asked(path, posted, **asked)

    def _asked(
        self, path: str, posted: dict[str, Any] | None, headers: Mapping[str, str], method: str = "", **environ: Any
    ) -> Answer:
        self.calls, seen = [], []
        with self.patch.context() as context, request_started.connected_to(lambda _: seen.append(1), self.hub):
            context.setattr(randomness, "random_bytes", lambda size: b"r" * size)
            context.setattr(randomness, "token", lambda size=32: "r" * size)
            context.setattr("app.kit.instrumentation.new_request_id", lambda: "an-id")
            response = PlainClient(self.hub, use_cookies=False).open(
                path, method=method or ("GET" if posted is None else "POST"), base_url=self.base_url, headers=dict(headers),
                environ_overrides={REQUEST_ID: "an-id-of-a-test", **environ}, **(posted or {}),
            )  # fmt: skip
            response.get_data()
        return Answer(response, self.calls, bool(seen))


class _Answering(Client):
    def __init__(self, comparison: Comparison, ask: Any, visit: Any, on_response: Any) -> None:
        self._comparison, self._visit, self._receive = comparison, visit, on_response
        self._ask, self._real = ask, ask(visit, on_response)

    def __call__(self, operation: Any, req: Any) -> Any:
        if operation.name == contract.tenant.name:
            return self._real(operation, req)
        if self._comparison.outcome is None:
            return self._same_for_both(operation, req)
        if operation.name not in _COMPARED:
            return self._real(operation, req)
        self._comparison.calls.append(Call(operation.name, req, self._visit))
        headers: ResponseHeaders = {"X-Gatehouse-Cost": _COST}
        self._receive(headers)
        if isinstance(self._comparison.outcome, Exception):
            raise self._comparison.outcome
        return self._comparison.outcome

    def _same_for_both(self, operation: Any, req: Any) -> Any:
        """Return what the service answers the direct way; to Flask the same."""
        self._comparison.calls.append(Call(operation.name, req, self._visit))
        at = len(self._comparison.calls) - 1
        if at == len(self._comparison.given):
            self._comparison.given.append(self._really(operation, req))
        name, outcome, headers = self._comparison.given[at]
        assert name == operation.name
        for each in headers:
            self._receive(each)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _really(self, operation: Any, req: Any) -> tuple[str, Any, list[ResponseHeaders]]:
        """Ask the service, which draws randomness of its own."""
        headers: list[ResponseHeaders] = []
        client = self._ask(self._visit, headers.append)
        with pytest.MonkeyPatch.context() as context:
            context.setattr(randomness, "random_bytes", _DRAWN[0])
            context.setattr(randomness, "token", _DRAWN[1])
            if self._comparison.failing is not None:
                return operation.name, self._comparison.failing, headers
            try:
                return operation.name, client(operation, req), headers
            except Exception as problem:  # noqa: BLE001 - both ways get it
                return operation.name, problem, headers


def steps(attempt: str | None) -> Iterable[tuple[str, Next]]:
    """Yield every step that an operation may name, and everything that a step may bring."""
    session = Session(token="a-session", lifetime_seconds=3600)
    for step in set(Step) - {Step.CONFIRM_SIGN_OUT}:
        yield step.value, Next(step=step, attempt=attempt, address="https://shop.example/cb?code=ü")
    for problem in ("return_url", "method", "last", "client"):
        for step in (Step.PROFILE, Step.LOGIN, Step.BACKUP_CODES, Step.REFUSED, Step.ELSEWHERE):
            yield f"{step.value} {problem}", Next(step=step, attempt=attempt, problem=problem)
    plain = Next(step=Step.REDIRECT, attempt=attempt, address="https://shop.example/cb")
    limit = MethodLimit.model_validate({"organization": "Acme", "allowed_methods": ["passkey"]})
    brought: dict[str, Any] = {
        "session": session, "trusted": session, "ends_session": True, "browser_state": "a.state", "method_limit": limit,
        "organization": OrganizationLook(name="Acme Gardens", color="#123456"), "frames": ["https://other.example/bye"],
        "other_sessions": OtherSessions(tokens=["one", "two"], lifetime_seconds=60), "connection": "google",
        "relying_party": RelyingPartyView(name="Acme Wiki", client_id="wiki", home="https://wiki.example/"), "problem": "method",
    }  # fmt: skip
    for name, value in brought.items():
        yield name, plain.model_copy(update={name: value})
    yield "session for a while", plain.model_copy(update={"session": Session(token="a-session")})
    yield "no other sessions", plain.model_copy(update={"other_sessions": OtherSessions(tokens=[])})
    yield "all", plain.model_copy(update={**brought, "frames": [], "connection": None})
    wiki = brought["relying_party"]
    yield "confirmed elsewhere", Next(step=Step.EMAIL_CONFIRMED, attempt="another", relying_party=wiki)
    yield "another interaction", Next(step=Step.SECOND_FACTOR, attempt="another", binding="its-secret")
    yield "frames before a page", Next(step=Step.PROFILE, frames=["https://other.example/bye"], session=session)


def errors(operation: AnyOperation) -> Iterable[tuple[str, Exception]]:
    """Yield every error that an operation declares, and those that any call may raise."""
    for kind in operation.every_error:
        yield kind.__name__, kind()
        yield f"{kind.__name__} for a while", kind(retry_after_seconds=90)
    yield "a broken service", ServiceUnavailable(500, "its reference")
    yield "no service", ServiceUnavailable()
    yield "a program's error", ZeroDivisionError()


def assert_alike(direct: Answer, generic: Answer, name: str) -> None:
    assert direct.comparable == generic.comparable, name
    assert direct.calls == generic.calls, name
    assert generic.is_by_flask


@pytest.fixture
def compared(hub_app: Flask, world: World, monkeypatch: pytest.MonkeyPatch) -> Comparison:
    monkeypatch.setattr("app.hub.tenancy.FRESH_SECONDS", 3600)
    return Comparison(hub_app, monkeypatch, world.services.settings.hub_url(world.name))


@dataclass
class Page:
    """A page with a form, as a browser holds it."""

    fields: dict[str, str]
    headers: dict[str, str]

    def without(self, *names: str) -> Page:
        return replace(self, fields={name: text for name, text in self.fields.items() if name not in names})

    def with_cookies(self, **cookies: str) -> Page:
        added = "; ".join(f"{name.replace('_', '-')}={value}" for name, value in cookies.items())
        return replace(self, headers={**self.headers, "Cookie": f"{self.headers['Cookie']}; {added}"})


def page_of(visitor: Visitor, address: str = "/login", button: str = "Sign in", **headers: str) -> Page:
    fields = visitor.open(address).form(button).fields
    held = (visitor.client._cookies or {}).values()
    cookies = "; ".join(f"{cookie.key}={cookie.value}" for cookie in held)
    return Page(
        {name: text for name, text in fields.items() if text},
        {"Cookie": cookies, "User-Agent": visitor.agent, "Accept-Language": "de", **headers},
    )


@pytest.fixture
def page(world: World, visitor: Visitor) -> Page:
    """Return the sign-in page of an application."""
    return page_of(visitor, visitor.authorize(world.application("shop", client_name="Acme Shop")).address)


@pytest.fixture
def own_page(visitor: Visitor) -> Page:
    """Return the sign-in page without an application."""
    return page_of(visitor)
