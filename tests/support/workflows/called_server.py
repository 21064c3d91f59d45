"""A tenant's server that workflows call, and a person who signs in. pytest loads it as a plugin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from app.contract.workflows.http_calls import CalledWorkflow, WorkflowSignIn
from app.contract.workflows.nodes import HttpCallNode
from app.identity.authentication.workflows import http_calls
from app.identity.authentication.workflows.http_calls import CallOutcome, CallStep
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.https_receiver import HttpsReceiver, https_receiver
from tests.support.tenants.tenant_server import TenantServer

WORKFLOW = CalledWorkflow(id="0b2c4a7e-9d55-4a0e-8c6b-2f1f3c5d7e90", name="Partners", version=3)
SIGN_IN = WorkflowSignIn(
    methods=("password",), provider=None, ip_address="192.0.2.7", user_agent="A browser", client_id="shop"
)


@dataclass(frozen=True)
class CalledServer:
    """The tenant, its server, and the account that signs in."""

    tenant: TenantServer
    receiver: HttpsReceiver
    uid: str

    @contextmanager
    def context(self) -> Iterator[Context]:
        """Yield a context of the tenant, whose changes are kept."""
        services = self.tenant.services
        tenant = services.directory.by_name(self.tenant.name)
        assert tenant is not None
        work = UnitOfWork(services.database, self.tenant.tenant_id)
        context = Context.outside_requests(services, tenant, work)
        try:
            yield context
            context.commit()
        finally:
            work.rollback()

    def step(self, **members: Any) -> CallStep:
        """Return a node that calls the server; it waits a second, and denies where the call fails."""
        stated = {"url": self.receiver.url("/ask"), "timeout_seconds": 1, "on_failure": "deny", **members}
        return CallStep(WORKFLOW, "ask", HttpCallNode.model_validate(stated))

    def answers(self, action: str = "continue", **members: Any) -> None:
        """Let the server answer as documented."""
        self.receiver.answers(200, json.dumps({"Action": action, **members}).encode())

    def call(self, sign_in: WorkflowSignIn = SIGN_IN, *, step: CallStep | None = None, **members: Any) -> CallOutcome:
        """Call the server about the account's sign-in."""
        with self.context() as context:
            return http_calls.call(context, step or self.step(**members), account_of(context, self.uid), sign_in)


def account_of(context: Context, uid: str) -> Account:
    account = account_store.by_uid(context, uid)
    assert account is not None
    return account


@pytest.fixture
def called(acme: TenantServer) -> Iterator[CalledServer]:
    uid = str(acme.create(FirstName="Ada", Company="Engines")["Uid"])
    with https_receiver() as receiver:
        yield CalledServer(acme, receiver, uid)
