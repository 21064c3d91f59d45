"""A tenant's webhooks with a receiver behind them, and the worker in between. pytest loads it as a plugin."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select

from app.identity.assembly.worker import Worker
from app.identity.platform.outbox.outbox import outbox
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.fakes.https_receiver import HttpsReceiver, ReceivedRequest, https_receiver
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.tenants.webhooks import Body, Webhooks
from tests.support.visitors.plain_client import PlainClient


@dataclass(frozen=True)
class WebhookDeliveries:
    """The tenant, its webhooks, and the server that they call."""

    webhooks: Webhooks
    receiver: HttpsReceiver

    @property
    def tenant(self) -> TenantServer:
        return self.webhooks.tenant

    @property
    def services(self) -> IdentityServices:
        return self.tenant.services

    def subscribe(self, event: str = "UpdateProfile", path: str = "/hook", **members: Any) -> Body:
        """Create a webhook to the receiver, and forget its ping."""
        webhook = self.webhooks.created(event, self.receiver.url(path), **members)
        self.deliver()
        self.receiver.received.clear()
        return webhook

    def deliver(self) -> None:
        """Let a worker deliver what is due now; nothing becomes due while it works."""
        now = self.services.clock.now()
        worker = Worker(self.services.settings, self.services.database, FixedClock(now))
        while worker.deliver_due():
            pass

    def change_account(self, **members: Any) -> str:
        """Create an account and change it: the event UpdateProfile. Return the id."""
        uid = str(self.tenant.create()["Uid"])
        self.tenant.update(uid, {"FirstName": "Ada", **members})
        return uid

    def delivered(self) -> ReceivedRequest:
        """Change an account, deliver the event, and return the only request that arrived."""
        self.change_account()
        self.deliver()
        (request,) = self.receiver.received
        return request

    def published_keys(self) -> list[Body]:
        """Return the tenant's keys as receivers read them."""
        base = f"http://{self.tenant.name}.{self.services.settings.hub_domain}"
        response = PlainClient(self.tenant.app).get("/.well-known/webhook-keys", base_url=base)
        keys: list[Body] = answered(response)["keys"]
        return keys

    def rows(self, kind: str = "webhook") -> Sequence[Any]:
        """Return the tenant's messages, the oldest first."""
        where = (outbox.c.tenant_id == self.tenant.tenant_id, outbox.c.kind == kind)
        with UnitOfWork(self.services.database, self.tenant.tenant_id).separate_transaction() as work:
            return work.all(select(outbox).where(*where).order_by(outbox.c.created_at))


def body_of(request: ReceivedRequest) -> Any:
    return json.loads(request.body)


@pytest.fixture
def deliveries(acme: TenantServer) -> Iterator[WebhookDeliveries]:
    with https_receiver() as receiver:
        yield WebhookDeliveries(Webhooks(acme), receiver)
