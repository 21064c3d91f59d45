"""A workflow in force holds on every way to a session or to tokens of an account: a table of paths and blocking steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

import pytest
from flask import Flask
from sqlalchemy import select

from app.contract.workflows.result_pages import RETURN_PATH
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.https_receiver import HttpsReceiver, answering, https_receiver
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.sign_in_paths import SIGN_IN_PATHS
from tests.support.sign_in_paths.path import Prepared, SignInPath
from tests.support.sign_in_paths.results import NeedsAction, Outcome, Refused, SignedIn
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer
from tests.support.workflows.drawings import Drawing, node, sequence
from tests.support.workflows.redirecting import PAGE, SITE
from tests.support.workflows.running import asking_for_factor, denying, put_in_force

ANYONE = "account.logins >= 0"
CONTINUED = frozenset({
    "reauthentication by password, page", "reauthentication by second factor, page", "step-up of a token by password, program",
    "first password, page", "changed password, page",
})  # fmt: skip
"""The session or token of an earlier sign-in goes on."""
REFRESHED = frozenset({"refresh token of the API", "refresh token of an application", "longer life of a token"})
"""Judged where the workflow's start says so."""
BY_SERVERS = frozenset({"impersonation by a server", "longer life of a token, server"})
"""A server of the tenant acts with the API secret; nobody signs in."""
APPROVED = frozenset({"device code"})
"""The person passed the workflow when they approved the device."""
TWO_FACTORS = ("after the password", "against a risk", "passkey", "acr")
"""In the names of the ways that pass a second factor by themselves."""
PATHS = [path for path in SIGN_IN_PATHS if path.name not in CONTINUED | REFRESHED | BY_SERVERS | APPROVED]
every_path = pytest.mark.parametrize("path", PATHS, ids=str)
refreshes = pytest.mark.parametrize("path", [path for path in SIGN_IN_PATHS if path.name in REFRESHED], ids=str)
Perform = Callable[..., Outcome]


def passes_two_factors(path: SignInPath) -> bool:
    return any(words in path.name for words in TWO_FACTORS)


@pytest.fixture
def perform(new_tenant_server: NewTenantServer, hub_app: Flask, fake_provider: FakeProvider) -> Perform:
    """Sign in on a path where this workflow is in force from the beginning."""

    def perform_path(path: SignInPath, drawn: Drawing, server: LockingServer | None = None) -> Outcome:
        prepared: Prepared = path.prepare(new_tenant_server, hub_app, fake_provider)
        if server is not None:
            server.tenant = prepared.who.tenant
        return prepared.perform(lambda who: put_in_force(who.tenant, drawn))

    return perform_path


@dataclass
class LockingServer:
    """A tenant's server, which locks the account in question before it answers."""

    receiver: HttpsReceiver
    tenant: TenantServer | None = None
    locked: list[str] = field(default_factory=list)

    def drawing(self, action: str, *before: Drawing) -> Drawing:
        """Return a workflow that asks the server, after these nodes."""
        body = json.dumps({"Action": action, **({"Url": PAGE} if action == "redirect" else {})}).encode()

        def answer(handler: BaseHTTPRequestHandler) -> None:
            self._lock_account(json.loads(self.receiver.received[-1].body)["Account"]["Uid"])
            answering(200, body, {})(handler)

        self.receiver.answer = answer
        otherwise = "continue" if action == "deny" else "deny"
        members = {"url": self.receiver.url("/ask"), "on_failure": otherwise, "redirect_origins": [SITE]}
        return sequence(*before, node("ask", "HttpCall", **members))

    def _lock_account(self, uid: str) -> None:
        """Lock the account's row, and SQLite's file: nobody gets either while a transaction of the sign-in has it."""
        assert self.tenant is not None
        work = UnitOfWork(self.tenant.services.database, self.tenant.tenant_id)
        work.begin()
        where = (accounts.c.tenant_id == self.tenant.tenant_id, accounts.c.uid == uid)
        work.all(select(accounts.c.uid).where(*where).with_for_update())
        work.rollback()
        self.locked.append(uid)


@pytest.fixture(scope="module")
def receiver() -> Iterator[HttpsReceiver]:
    with https_receiver() as started:
        yield started


@pytest.fixture
def server(receiver: HttpsReceiver) -> LockingServer:
    return LockingServer(receiver)


@every_path
def test_path_obeys_a_denial(path: SignInPath, perform: Perform) -> None:
    outcome = perform(path, denying(ANYONE))
    assert isinstance(outcome, Refused), outcome


@every_path
def test_path_obeys_a_server_and_locks_nothing(path: SignInPath, perform: Perform, server: LockingServer) -> None:
    outcome = perform(path, server.drawing("deny"), server)
    assert isinstance(outcome, Refused), outcome
    assert server.locked


@every_path
def test_path_goes_on_after_a_server(path: SignInPath, perform: Perform, server: LockingServer) -> None:
    outcome = perform(path, server.drawing("continue"), server)
    assert isinstance(outcome, SignedIn), outcome
    assert server.locked


@pytest.mark.parametrize("path", [path for path in PATHS if passes_two_factors(path)], ids=str)
def test_path_goes_on_after_a_factor_and_a_server(path: SignInPath, perform: Perform, server: LockingServer) -> None:
    outcome = perform(path, server.drawing("continue", node("mfa", "MFA")), server)
    assert isinstance(outcome, SignedIn) == bool(server.locked), outcome


@every_path
def test_path_waits_for_a_redirect(path: SignInPath, perform: Perform, server: LockingServer) -> None:
    outcome = perform(path, server.drawing("redirect"), server)
    is_waiting = isinstance(outcome, NeedsAction) and outcome.step == RETURN_PATH
    assert is_waiting or isinstance(outcome, Refused), outcome


@every_path
def test_path_requires_a_factor(path: SignInPath, perform: Perform) -> None:
    outcome = perform(path, asking_for_factor(ANYONE))
    assert passes_two_factors(path) or not isinstance(outcome, SignedIn), outcome


@refreshes
def test_refresh_obeys_a_workflow_that_judges_it(path: SignInPath, perform: Perform) -> None:
    drawn = denying("sign_in.is_refresh")
    assert isinstance(perform(path, drawn), SignedIn)
    drawn["nodes"][0]["data"] = {"on_refresh": True}
    outcome = perform(path, drawn)
    assert isinstance(outcome, Refused), outcome
