"""The end of a webhook's pause: by its operation, by a test call that the target takes, and by a change of the webhook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.tenants.webhook_deliveries import WebhookDeliveries
from tests.support.tenants.webhooks import Body, Webhooks

pytestmark = pytest.mark.database_alone  # a worker delivers all due messages of the database

UNKNOWN, LACKS = (404, 7986), (403, 6002)


def resumed(deliveries: WebhookDeliveries, webhook: Body) -> Body:
    return answered(deliveries.webhooks.program("POST", f"/v2/manage/webhooks/{webhook['Id']}/resume"))


def paused(deliveries: WebhookDeliveries, changes: int = 2) -> Body:
    """Create a webhook whose target fails, with deliveries that wait for the end of the pause."""
    webhook = deliveries.subscribe()
    deliveries.receiver.answers(503, headers={"Retry-After": "3600"})
    for _ in range(changes):
        deliveries.change_account()
    deliveries.deliver()
    assert len(deliveries.receiver.received) == 1
    deliveries.receiver.received.clear()
    deliveries.receiver.answers(200)
    return webhook


def calls(deliveries: WebhookDeliveries, webhook: Body) -> Any:
    return answered(deliveries.webhooks.program("POST", f"/v2/manage/webhooks/{webhook['Id']}/test"))["IsPosted"]


def changes(deliveries: WebhookDeliveries, webhook: Body) -> Any:
    path = f"/v2/manage/webhooks/{webhook['Id']}"
    return answered(deliveries.webhooks.program("PUT", path, {"Headers": {"X-Key": "the right one"}}))["IsEnabled"]


@pytest.mark.both_databases
def test_resumed_webhook_sends_what_waited_at_once(deliveries: WebhookDeliveries) -> None:
    webhook = paused(deliveries)
    deliveries.deliver()
    assert deliveries.receiver.received == []

    assert resumed(deliveries, webhook) == {"WasPaused": True, "Count": 1}
    deliveries.deliver()
    assert len(deliveries.receiver.received) == 2
    assert resumed(deliveries, webhook) == {"WasPaused": False, "Count": 0}
    facts = [entry for _, entry in entries_of(deliveries.tenant, "webhook.resumed")]
    assert facts == [{"id": webhook["Id"], "deliveries": count} for count in (1, 0)]


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("repair", [calls, changes])
def test_repair_ends_the_pause(deliveries: WebhookDeliveries, repair: Callable[[WebhookDeliveries, Body], Any]) -> None:
    webhook = paused(deliveries)
    assert repair(deliveries, webhook)
    deliveries.receiver.received.clear()
    deliveries.deliver()

    assert len(deliveries.receiver.received) == 2


def test_test_call_that_fails_ends_no_pause(deliveries: WebhookDeliveries) -> None:
    webhook = paused(deliveries)
    deliveries.receiver.answers(500)
    assert not calls(deliveries, webhook)
    deliveries.receiver.received.clear()
    deliveries.deliver()

    assert deliveries.receiver.received == []


def test_target_that_still_fails_gets_one_delivery(deliveries: WebhookDeliveries) -> None:
    webhook = paused(deliveries, changes=5)
    deliveries.receiver.answers(500)
    resumed(deliveries, webhook)
    deliveries.deliver()

    assert len(deliveries.receiver.received) == 1


def test_foreign_webhook_cannot_be_resumed(deliveries: WebhookDeliveries, new_tenant_server: NewTenantServer) -> None:
    webhook, foreign = paused(deliveries), Webhooks(new_tenant_server())

    assert refused(foreign.program("POST", f"/v2/manage/webhooks/{webhook['Id']}/resume")) == UNKNOWN
    deliveries.deliver()
    assert deliveries.receiver.received == []


@pytest.mark.parametrize("scopes", [("webhook:read", "profile:read"), ("webhook:update",)])
def test_resumption_needs_the_powers_of_a_change(deliveries: WebhookDeliveries, scopes: tuple[str, ...]) -> None:
    webhook, token = paused(deliveries), machine(deliveries.tenant, *scopes)

    assert refused(ask(deliveries.tenant, token, "POST", f"/v2/manage/webhooks/{webhook['Id']}/resume")) == LACKS
    deliveries.deliver()
    assert deliveries.receiver.received == []


def test_resumptions_are_limited(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    for _ in range(60):
        resumed(deliveries, webhook)

    assert deliveries.webhooks.program("POST", f"/v2/manage/webhooks/{webhook['Id']}/resume").status_code == 429
