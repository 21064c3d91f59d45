"""A hub whose operations answer as a test says, and the pages that its browser holds. pytest loads it as a plugin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.contract.errors import AnotherAccount
from app.contract.oauth.models import RelyingPartyView
from app.contract.oauth.pages import authorization_pages
from app.contract.organizations.views import OrganizationBranding
from app.contract.recovery.recovery_pages import forgot
from app.contract.registration.registration_pages import register
from app.contract.second_factors.pages import second_factor_pages
from app.contract.sessions.models import OtherSessions, Session
from app.contract.sign_in import sign_in_pages
from app.contract.steps import (
    ConfirmSignOutStep,
    EmailConfirmedStep,
    ProfileStep,
    RedirectStep,
    SecondFactorStep,
    StepResponse,
)
from app.hub.client.identity_client import AccountChanged
from app.kit.operations.client import Client, ServiceUnavailable
from app.kit.operations.operation import AnyOperation
from tests.support.oauth.world import World
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.step_samples import named_samples
from tests.support.visitors.visitor import Visitor

FORM = "application/x-www-form-urlencoded"
_SCRIPTED = {
    operation.name
    for operation in (
        sign_in_pages.sign_in,
        second_factor_pages.verify_factor,
        authorization_pages.authorize,
        register,
        forgot,
    )
}


@dataclass
class Call:
    operation: str
    request: Any


@dataclass
class ScriptedAnswer:
    """What a browser gets, and what the hub asked for it."""

    response: TestResponse
    calls: list[Call]

    @property
    def status(self) -> int:
        return self.response.status_code


@dataclass
class ScriptedHub:
    """A hub. The operations of `_SCRIPTED` answer with the outcome, or raise it; every other operation answers as it does."""

    hub: Flask
    base_url: str
    result: Any = None
    calls: list[Call] = field(default_factory=list)
    """Of scripted operations."""
    called: list[str] = field(default_factory=list)
    """The names of all operations that the last request called."""

    def post(self, result: Any, path: str, form: Any, **requested: Any) -> ScriptedAnswer:
        """Post a form: fields by name, or bytes."""
        is_written = isinstance(form, dict) and form
        kind = (
            {}
            if is_written and "content_type" not in requested
            else {"content_type": requested.pop("content_type", FORM)}
        )
        return self._open(result, path, "POST", data=form, **kind, **requested)

    def get(self, result: Any, path: str, **requested: Any) -> ScriptedAnswer:
        return self._open(result, path, requested.pop("method", "GET"), **requested)

    def _open(
        self,
        result: Any,
        path: str,
        method: str,
        headers: Mapping[str, str],
        environ: dict[str, Any] | None = None,
        **body: Any,
    ) -> ScriptedAnswer:
        self.result, self.calls, self.called = result, [], []
        client = PlainClient(self.hub, use_cookies=False)
        response = client.open(
            path, method=method, base_url=self.base_url, headers=dict(headers), environ_overrides=environ or {}, **body
        )
        response.get_data()
        return ScriptedAnswer(response, self.calls)


class _ScriptedClient(Client):
    def __init__(self, scripted: ScriptedHub, real: Client) -> None:
        self._hub, self._real = scripted, real

    def __call__(self, operation: Any, req: Any) -> Any:
        self._hub.called.append(operation.name)
        if operation.name not in _SCRIPTED or self._hub.result is None:
            return self._real(operation, req)
        self._hub.calls.append(Call(operation.name, req))
        if isinstance(self._hub.result, Exception):
            raise self._hub.result
        return self._hub.result


@pytest.fixture
def scripted(hub_app: Flask, world: World, monkeypatch: pytest.MonkeyPatch) -> ScriptedHub:
    made = ScriptedHub(hub_app, world.services.settings.hub_url(world.name))
    identity = hub_app.extensions["gatehouse"].identity_client
    real = identity.for_visit
    monkeypatch.setattr(
        identity, "for_visit", lambda visit, on_response: _ScriptedClient(made, real(visit, on_response))
    )
    return made


def steps(interaction_id: str | None) -> Iterable[tuple[str, StepResponse]]:
    """Yield every step that an operation may name, and everything that a response may bring beside it."""
    session = Session(token="a-session", lifetime_seconds=3600)
    for name, step in named_samples():
        if not isinstance(step, ConfirmSignOutStep):  # only the page that asks to confirm a sign-out gets it
            yield name, StepResponse(step=step, interaction_id=interaction_id)
    back = StepResponse(step=RedirectStep(address="https://shop.example/cb"), interaction_id=interaction_id)
    members: dict[str, Any] = {
        "session": session, "trusted": session, "ends_session": True, "browser_state": "a.state",
        "organization": OrganizationBranding(name="Acme Gardens", color="#123456"), "frames": ["https://other.example/bye"],
        "other_sessions": OtherSessions(tokens=["one", "two"], lifetime_seconds=60),
        "relying_party": RelyingPartyView(name="Acme Wiki", client_id="wiki", home="https://wiki.example/"),
    }  # fmt: skip
    for name, value in members.items():
        yield name, back.model_copy(update={name: value})
    yield "session for a while", back.model_copy(update={"session": Session(token="a-session")})
    yield "no other sessions", back.model_copy(update={"other_sessions": OtherSessions(tokens=[])})
    yield "all", back.model_copy(update={**members, "frames": []})
    wiki = members["relying_party"]
    yield "confirmed elsewhere", StepResponse(step=EmailConfirmedStep(), interaction_id="another", relying_party=wiki)
    yield "another interaction", StepResponse(step=SecondFactorStep(), interaction_id="another", binding="its-secret")
    yield (
        "frames before a page",
        StepResponse(step=ProfileStep(), frames=["https://other.example/bye"], session=session),
    )


def errors_of(operation: AnyOperation) -> Iterable[tuple[str, Exception]]:
    """Yield every error that an operation declares as the client raises it, and those that any call may raise."""
    arriving = (kind for kind in operation.every_error if kind.status < 500 and kind is not AnotherAccount)
    for kind in arriving:
        yield kind.__name__, kind()
        yield f"{kind.__name__} for a while", kind(retry_after_seconds=90)
    yield "another account", AccountChanged()
    yield "a broken service", ServiceUnavailable(500, "its reference")
    yield "no service", ServiceUnavailable()
    yield "a program's error", ZeroDivisionError()


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
    stored = (visitor.client._cookies or {}).values()
    cookies = "; ".join(f"{cookie.key}={cookie.value}" for cookie in stored)
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
