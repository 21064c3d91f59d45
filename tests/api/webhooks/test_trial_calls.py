"""Test calls: one ping to the target, whose answer the caller sees."""

from __future__ import annotations

from dataclasses import replace

import pytest
from standardwebhooks import Webhook

from app.identity.webhooks import delivery
from tests.support.races import at_once
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import answered, refused
from tests.support.tenants.webhook_deliveries import WebhookDeliveries


def answer_to_test(deliveries: WebhookDeliveries, webhook_id: str) -> dict[str, object]:
    return answered(deliveries.webhooks.program("POST", f"/v2/manage/webhooks/{webhook_id}/test"))


def created(deliveries: WebhookDeliveries, **members: object) -> dict[str, str]:
    return deliveries.webhooks.created("Login", deliveries.receiver.url(), IsEnabled=False, **members)


@pytest.mark.both_databases
def test_target_gets_a_signed_ping(deliveries: WebhookDeliveries) -> None:
    webhook = created(deliveries)
    deliveries.receiver.answers(204)

    assert answer_to_test(deliveries, webhook["Id"]) == {"IsPosted": True, "StatusCode": 204, "Problem": None}
    (request,) = deliveries.receiver.received
    body = Webhook(webhook["SigningSecret"]).verify(request.body, dict(request.headers))
    assert (body["HookName"], body["Data"]["Id"]) == ("ping", webhook["Id"])
    assert deliveries.rows() == [], "it is not in the log of deliveries"


@pytest.mark.parametrize("status", [302, 410, 500])
def test_status_of_the_refusal_is_answered(deliveries: WebhookDeliveries, status: int) -> None:
    webhook = created(deliveries)
    deliveries.receiver.answers(status)
    result = answer_to_test(deliveries, webhook["Id"])

    assert (result["IsPosted"], result["StatusCode"]) == (False, status)
    assert str(status) in str(result["Problem"])


def test_hanging_target_is_given_up(deliveries: WebhookDeliveries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "WHILE_ONE_WAITS", replace(delivery.WHILE_ONE_WAITS, seconds=0.5))
    webhook = created(deliveries)
    deliveries.receiver.hangs()
    result = answer_to_test(deliveries, webhook["Id"])

    assert (result["IsPosted"], result["StatusCode"]) == (False, None)
    assert "no complete answer within 0.5 seconds" in str(result["Problem"])


def test_hanging_targets_hold_few_threads(deliveries: WebhookDeliveries, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a tenant's calls to servers that never answer would hold all threads that take changes."""
    monkeypatch.setattr(delivery, "WHILE_ONE_WAITS", replace(delivery.WHILE_ONE_WAITS, seconds=4))
    webhook = created(deliveries)
    assert deliveries.webhooks.token
    deliveries.receiver.hangs()
    results = at_once([lambda: answer_to_test(deliveries, webhook["Id"])] * 6)

    assert len(deliveries.receiver.received) == 2
    assert sum("too many calls wait" in str(result["Problem"]) for result in results) == 4


def test_answer_shows_no_secret(deliveries: WebhookDeliveries) -> None:
    webhook = created(deliveries, Headers={"X-Key": "secret-header"})
    deliveries.receiver.answers(500, b"secret-header")

    assert "secret-header" not in str(answer_to_test(deliveries, webhook["Id"]))


def test_gone_target_of_a_test_disables_nothing(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.webhooks.created("Login", deliveries.receiver.url())
    deliveries.receiver.answers(410)
    answer_to_test(deliveries, webhook["Id"])

    assert answered(deliveries.webhooks.program("GET", f"/v2/manage/webhooks/{webhook['Id']}"))["IsEnabled"] is True


def test_unknown_webhook_cannot_be_tested(deliveries: WebhookDeliveries) -> None:
    assert refused(deliveries.webhooks.program("POST", "/v2/manage/webhooks/unknown/test")) == (404, 7986)


def test_program_without_scope_cannot_test(deliveries: WebhookDeliveries) -> None:
    webhook, token = created(deliveries), machine(deliveries.tenant, "webhook:read")
    path = f"/v2/manage/webhooks/{webhook['Id']}/test"

    assert refused(ask(deliveries.tenant, token, "POST", path)) == (403, 6002)
    assert deliveries.receiver.received == []


def test_test_calls_are_limited(deliveries: WebhookDeliveries) -> None:
    webhook = created(deliveries)
    for _ in range(30):
        answer_to_test(deliveries, webhook["Id"])

    assert deliveries.webhooks.program("POST", f"/v2/manage/webhooks/{webhook['Id']}/test").status_code == 429
