"""Webhooks whose deliveries a program reads in the log, as `gatehouse webhooks listen` does."""

from __future__ import annotations

import json

import pytest

from app.contract.webhooks.events import EVERY_EVENT
from tests.support.tenants.tenant_server import answered, refused
from tests.support.tenants.webhook_deliveries import WebhookDeliveries

pytestmark = pytest.mark.database_alone  # a worker delivers all due messages of the database

LISTENER = "https://LISTENER.invalid/ada"


@pytest.mark.both_databases
def test_listener_finds_every_event_in_the_log(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.webhooks.created(EVERY_EVENT, LISTENER)
    path = f"/v2/manage/webhooks/{webhook['Id']}/deliveries"
    deliveries.change_account()
    waiting = answered(deliveries.webhooks.program("GET", path))["Data"]
    deliveries.deliver()
    sent = answered(deliveries.webhooks.program("GET", path))["Data"]

    assert [item["Event"] for item in sent] == ["UpdateProfile", "Register", "ping"]
    assert [item["Id"] for item in waiting] == [item["Id"] for item in sent]
    assert {(item["State"], item["StatusCode"], item["Problem"]) for item in sent} == {("sent", None, None)}
    shown = answered(deliveries.webhooks.program("GET", f"{path}/{sent[0]['Id']}"))["Request"]
    assert (shown["Url"], json.loads(shown["Body"])["HookName"]) == (None, "updateprofile")


def test_listener_can_have_one_event(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.webhooks.created("Register", LISTENER)
    deliveries.change_account()
    found = answered(deliveries.webhooks.program("GET", f"/v2/manage/webhooks/{webhook['Id']}/deliveries"))["Data"]

    assert [item["Event"] for item in found] == ["Register", "ping"]


@pytest.mark.parametrize("target", ["https://listener.invalid.example/", "https://a.listener.invalid/"])
def test_server_cannot_get_every_event(deliveries: WebhookDeliveries, target: str) -> None:
    body = {"Event": EVERY_EVENT, "TargetUrl": target}

    assert refused(deliveries.webhooks.program("POST", "/v2/manage/webhooks", body)) == (400, 7900)
