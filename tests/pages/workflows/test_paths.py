"""A workflow in force holds on every way to a session or to tokens of an account: a table of paths and blocking steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

from app.contract.workflows.result_pages import RETURN_PATH
from tests.support.fakes.https_receiver import HttpsReceiver, https_receiver
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.sign_in_paths import SIGN_IN_PATHS
from tests.support.sign_in_paths.path import Prepared, SignInPath
from tests.support.sign_in_paths.results import NeedsAction, Outcome, Refused, SignedIn
from tests.support.tenants.tenant_server import NewTenantServer
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
Perform = Callable[[SignInPath, Drawing], Outcome]


@pytest.fixture
def perform(new_tenant_server: NewTenantServer, hub_app: Flask, fake_provider: FakeProvider) -> Perform:
    """Sign in on a path where this workflow is in force from the beginning."""

    def perform_path(path: SignInPath, drawn: Drawing) -> Outcome:
        prepared: Prepared = path.prepare(new_tenant_server, hub_app, fake_provider)
        return prepared.perform(lambda who: put_in_force(who.tenant, drawn))

    return perform_path


@pytest.fixture(scope="module")
def denying_server() -> Iterator[HttpsReceiver]:
    with https_receiver() as receiver:
        receiver.answers(200, json.dumps({"Action": "deny"}).encode())
        yield receiver


@pytest.fixture(scope="module")
def redirecting_server() -> Iterator[HttpsReceiver]:
    with https_receiver() as receiver:
        receiver.answers(200, json.dumps({"Action": "redirect", "Url": PAGE}).encode())
        yield receiver


def asking(receiver: HttpsReceiver, **members: Any) -> Drawing:
    return sequence(node("ask", "HttpCall", url=receiver.url("/ask"), on_failure="continue", **members))


@every_path
def test_path_obeys_a_denial(path: SignInPath, perform: Perform) -> None:
    outcome = perform(path, denying(ANYONE))
    assert isinstance(outcome, Refused), outcome


@every_path
def test_path_obeys_a_denying_server(path: SignInPath, perform: Perform, denying_server: HttpsReceiver) -> None:
    outcome = perform(path, asking(denying_server))
    assert isinstance(outcome, Refused), outcome


@every_path
def test_path_waits_for_a_redirect(path: SignInPath, perform: Perform, redirecting_server: HttpsReceiver) -> None:
    outcome = perform(path, asking(redirecting_server, redirect_origins=[SITE]))
    is_waiting = isinstance(outcome, NeedsAction) and outcome.step == RETURN_PATH
    assert is_waiting or isinstance(outcome, Refused), outcome


@every_path
def test_path_requires_a_factor(path: SignInPath, perform: Perform) -> None:
    outcome = perform(path, asking_for_factor(ANYONE))
    has_passed_one = any(words in path.name for words in TWO_FACTORS)
    assert has_passed_one or not isinstance(outcome, SignedIn), outcome


@refreshes
def test_refresh_obeys_a_workflow_that_judges_it(path: SignInPath, perform: Perform) -> None:
    drawn = denying("sign_in.is_refresh")
    assert isinstance(perform(path, drawn), SignedIn)
    drawn["nodes"][0]["data"] = {"on_refresh": True}
    outcome = perform(path, drawn)
    assert isinstance(outcome, Refused), outcome
