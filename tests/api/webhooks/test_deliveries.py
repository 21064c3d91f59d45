"""The log of deliveries and replays, by a program with a machine token."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from app.kit.clock import iso
from tests.support.services.identity_service import pass_time
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.tenants.webhook_deliveries import WebhookDeliveries
from tests.support.tenants.webhooks import Body, Webhooks

pytestmark = pytest.mark.database_alone  # a worker delivers all due messages of the database

UNKNOWN, MALFORMED, LACKS = (404, 7986), (400, 7900), (403, 6002)


def listed(deliveries: WebhookDeliveries, webhook: Body, **query: Any) -> list[Body]:
    found: list[Body] = answered(
        deliveries.webhooks.program("GET", f"/v2/manage/webhooks/{webhook['Id']}/deliveries", **query)
    )["Data"]
    return found


def read(deliveries: WebhookDeliveries, webhook: Body, delivery_id: str) -> Body:
    return answered(deliveries.webhooks.program("GET", f"/v2/manage/webhooks/{webhook['Id']}/deliveries/{delivery_id}"))


def replayed(deliveries: WebhookDeliveries, webhook: Body, **body: Any) -> Body:
    since = {"Since": iso(deliveries.services.clock.now() - timedelta(hours=1))}
    return answered(
        deliveries.webhooks.program("POST", f"/v2/manage/webhooks/{webhook['Id']}/replay", {**since, **body})
    )


def gives_up(deliveries: WebhookDeliveries, count: int = 1) -> Body:
    """Create a webhook, let deliveries become dead letters, and enable the webhook again."""
    webhook = deliveries.subscribe()
    for _ in range(count):
        deliveries.change_account()
    deliveries.receiver.answers(410)
    deliveries.deliver()
    deliveries.receiver.answers(200)
    deliveries.receiver.received.clear()
    answered(deliveries.webhooks.program("PUT", f"/v2/manage/webhooks/{webhook['Id']}", {"IsEnabled": True}))
    return webhook


@pytest.mark.both_databases
def test_deliveries_are_listed_the_newest_first(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    request = deliveries.delivered()
    deliveries.change_account()
    waiting, sent, ping = listed(deliveries, webhook)

    assert (waiting["State"], waiting["Attempt"], waiting["StatusCode"]) == ("waiting", 0, None)
    assert waiting["DueAt"] is not None
    assert sent == {
        "Id": request.headers["webhook-id"],
        "Event": "UpdateProfile",
        "StatusCode": 200,
        "Attempt": 1,
        "Time": sent["Time"],
        "State": "sent",
        "DueAt": None,
        "Problem": None,
    }
    assert ping["Event"] == "ping"


@pytest.mark.both_databases
def test_list_is_filtered(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    deliveries.delivered()
    pass_time(deliveries.services, minutes=5)
    between = iso(deliveries.services.clock.now())
    pass_time(deliveries.services, minutes=5)
    deliveries.change_account()

    def states(**query: Any) -> list[str]:
        return [item["State"] for item in listed(deliveries, webhook, **query)]

    assert states(state="waiting") == ["waiting"]
    assert states(event="updateprofile") == ["waiting", "sent"]
    assert states(event="Ping") == ["sent"]
    assert states(event="Login") == []
    assert states(since=between) == ["waiting"]
    assert states(until=between) == ["sent", "sent"]
    assert states(page=2, pagesize=1) == ["sent"]


@pytest.mark.parametrize(
    "query",
    [
        {"state": "lost"}, {"event": "Unheard"}, {"since": "yesterday"}, {"since": "2026-11-29T08:00:00"}, {"page": 0},
        {"page": 1_000_000, "pagesize": 200}, {"until": "9" * 400},
    ],
)  # fmt: skip
def test_malformed_filter_is_refused(deliveries: WebhookDeliveries, query: Body) -> None:
    webhook = deliveries.subscribe()

    assert (
        refused(deliveries.webhooks.program("GET", f"/v2/manage/webhooks/{webhook['Id']}/deliveries", **query))
        == MALFORMED
    )


@pytest.mark.both_databases
def test_delivery_shows_request_and_answer(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe(Headers={"X-Key": "secret-header"})
    deliveries.receiver.answers(201, b"taken", {"X-Server": "shop"})
    request = deliveries.delivered()
    shown = read(deliveries, webhook, request.headers["webhook-id"])

    assert shown["Request"]["Url"] == deliveries.receiver.url()
    assert shown["Request"]["Body"].encode() == request.body
    assert shown["Request"]["Headers"]["X-Key"] == "********"
    assert shown["Request"]["Headers"]["webhook-signature"] == request.headers["webhook-signature"]
    assert (shown["Answer"]["StatusCode"], shown["Answer"]["Body"]) == (201, "taken")
    assert shown["Answer"]["Headers"]["x-server"] == "shop"


def test_delivery_that_waits_has_no_answer(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    deliveries.change_account()
    shown = read(deliveries, webhook, listed(deliveries, webhook)[0]["Id"])

    assert shown["Answer"] is None
    assert (shown["Request"]["Url"], shown["Request"]["Headers"]) == (None, {})
    assert json.loads(shown["Request"]["Body"])["HookName"] == "updateprofile"


def test_failure_is_shown_with_its_problem(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    deliveries.receiver.answers(500, b"no room")
    deliveries.delivered()
    (failed, _) = listed(deliveries, webhook)
    shown = read(deliveries, webhook, failed["Id"])

    assert (failed["State"], failed["StatusCode"], failed["Attempt"]) == ("waiting", 500, 1)
    assert failed["Problem"].endswith("answered 500")
    assert shown["Answer"]["Body"] == "no room"


@pytest.mark.both_databases
def test_dead_delivery_is_replayed_with_its_id(deliveries: WebhookDeliveries) -> None:
    webhook = gives_up(deliveries)
    (dead,) = listed(deliveries, webhook, state="dead")
    path = f"/v2/manage/webhooks/{webhook['Id']}/deliveries/{dead['Id']}/replay"

    assert answered(deliveries.webhooks.program("POST", path)) == {"Count": 1, "Next": None}
    assert answered(deliveries.webhooks.program("POST", path))["Count"] == 0, "it waits already"
    deliveries.deliver()
    (request,) = deliveries.receiver.received
    assert request.headers["webhook-id"] == dead["Id"]


@pytest.mark.both_databases
def test_dead_deliveries_of_a_period_are_replayed(deliveries: WebhookDeliveries) -> None:
    webhook = gives_up(deliveries, count=3)
    dead = {item["Id"] for item in listed(deliveries, webhook, state="dead")}

    assert (
        replayed(deliveries, webhook, Until=iso(deliveries.services.clock.now() - timedelta(minutes=30)))["Count"] == 0
    )
    assert replayed(deliveries, webhook) == {"Count": 3, "Next": None}
    deliveries.deliver()
    assert {request.headers["webhook-id"] for request in deliveries.receiver.received} == dead


def test_sent_deliveries_are_replayed_when_asked(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    first = deliveries.delivered()

    assert replayed(deliveries, webhook)["Count"] == 0
    assert replayed(deliveries, webhook, State="sent")["Count"] == 2
    deliveries.deliver()
    again = [item for item in deliveries.receiver.received if item.headers["webhook-id"] == first.headers["webhook-id"]]
    assert [item.body for item in again] == [first.body, first.body]


def test_long_replay_goes_on_at_the_next_time(deliveries: WebhookDeliveries, monkeypatch: pytest.MonkeyPatch) -> None:
    webhook = gives_up(deliveries, count=3)
    monkeypatch.setattr("app.identity.administration.webhooks.deliveries.MAX_REPLAYED", 2)
    first = replayed(deliveries, webhook)
    rest = replayed(deliveries, webhook, Since=first["Next"])

    assert (first["Count"], rest) == (2, {"Count": 1, "Next": None})


@pytest.mark.parametrize("body", [{}, {"Since": "yesterday"}, {"Since": "2026-11-29T08:00:00Z", "State": "waiting"}])
def test_malformed_replay_is_refused(deliveries: WebhookDeliveries, body: Body) -> None:
    webhook = deliveries.subscribe()

    assert (
        refused(deliveries.webhooks.program("POST", f"/v2/manage/webhooks/{webhook['Id']}/replay", body)) == MALFORMED
    )


def test_foreign_webhook_and_delivery_are_unknown(
    deliveries: WebhookDeliveries, new_tenant_server: NewTenantServer
) -> None:
    webhook = deliveries.subscribe()
    delivery_id = deliveries.delivered().headers["webhook-id"]
    other, foreign = deliveries.subscribe("Login"), Webhooks(new_tenant_server())
    addresses = [
        ("GET", "/deliveries"), ("GET", f"/deliveries/{delivery_id}"), ("POST", f"/deliveries/{delivery_id}/replay"),
    ]  # fmt: skip
    for method, path in addresses:
        assert refused(foreign.program(method, f"/v2/manage/webhooks/{webhook['Id']}{path}")) == UNKNOWN
        if delivery_id in path:
            assert refused(deliveries.webhooks.program(method, f"/v2/manage/webhooks/{other['Id']}{path}")) == UNKNOWN


def test_body_needs_the_power_to_read_profiles(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    delivery_id = deliveries.delivered().headers["webhook-id"]
    token, path = machine(deliveries.tenant, "webhook:read"), f"/v2/manage/webhooks/{webhook['Id']}/deliveries"

    assert answered(ask(deliveries.tenant, token, "GET", path))["Data"] != []
    assert refused(ask(deliveries.tenant, token, "GET", f"{path}/{delivery_id}")) == LACKS
    assert refused(ask(deliveries.tenant, token, "POST", f"{path}/{delivery_id}/replay")) == LACKS


@pytest.mark.both_databases
def test_bodies_go_with_the_account(deliveries: WebhookDeliveries) -> None:
    change, deletion = deliveries.subscribe(), deliveries.subscribe("DeleteAccount", "/deleted")
    uid = deliveries.change_account(LastName="Lovelace")
    deliveries.deliver()
    answered(deliveries.tenant.send("DELETE", f"/identity/v2/manage/account/{uid}"))

    (changed, _) = listed(deliveries, change)
    assert read(deliveries, change, changed["Id"])["Request"]["Body"] is None
    deliveries.deliver()
    last = deliveries.receiver.received[-1]
    assert (last.path, json.loads(last.body)["Data"]["LastName"]) == ("/deleted", "Lovelace")
    (deleted, _) = listed(deliveries, deletion)
    assert (deleted["State"], read(deliveries, deletion, deleted["Id"])["Request"]["Body"]) == ("sent", None)
    assert deliveries.webhooks.program(
        "POST", f"/v2/manage/webhooks/{deletion['Id']}/deliveries/{deleted['Id']}/replay"
    ).json == {
        "Count": 0,
        "Next": None,
    }
