"""Deliveries as receivers get them: the payload, what the tenant adds, and signatures that their own libraries verify."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from datetime import timedelta
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy import update
from standardwebhooks import Webhook, WebhookVerificationError

from app.identity.assembly.worker import Worker
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.outbound import bounded_transport
from app.identity.platform.outbound.deadlines import Deadline, DeadlineTransport
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.fakes.https_receiver import ReceivedRequest
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.tenants.webhook_deliveries import WebhookDeliveries, body_of

pytestmark = pytest.mark.database_alone  # a worker delivers all due messages of the database


def verified(secret: str, request: ReceivedRequest) -> Any:
    return Webhook(secret).verify(request.body, dict(request.headers))


@pytest.mark.both_databases
def test_event_arrives_with_the_profile(deliveries: WebhookDeliveries) -> None:
    deliveries.subscribe()
    uid = deliveries.change_account(LastName="Zoë ✓")
    deliveries.deliver()

    (request,) = deliveries.receiver.received
    body = body_of(request)
    profile = deliveries.tenant.read(uid)
    assert list(body) == ["HookName", "Time", "HookId", "Data"]
    assert (body["HookName"], body["HookId"]) == ("updateprofile", request.headers["webhook-id"])
    assert body["Data"] == {name: value for name, value in profile.items() if name != "Password"}
    assert (request.method, request.headers["content-type"]) == ("POST", "application/json")


def test_other_event_and_foreign_tenant_are_not_sent(deliveries: WebhookDeliveries, globex: TenantServer) -> None:
    deliveries.subscribe("Login")
    deliveries.change_account()
    globex.update(str(globex.create()["Uid"]), {"FirstName": "Grace"})
    deliveries.deliver()

    assert deliveries.receiver.received == []


def test_suppressed_event_is_not_sent(deliveries: WebhookDeliveries) -> None:
    deliveries.subscribe()
    uid = str(deliveries.tenant.create()["Uid"])
    deliveries.tenant.update(uid, {"FirstName": "Ada"}, prevent_webhook="true")
    deliveries.deliver()

    assert deliveries.receiver.received == []


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The seconds that the transport of the newest request is given."""
    given: dict[str, float] = {}

    class Recorded(Deadline):
        def __init__(self, seconds: float) -> None:
            given["in all"] = seconds
            super().__init__(seconds)

    class RecordedTransport(DeadlineTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            given["to connect"] = request.extensions["timeout"]["connect"]
            return super().handle_request(request)

    monkeypatch.setattr(bounded_transport, "Deadline", Recorded)
    monkeypatch.setattr(bounded_transport, "DeadlineTransport", RecordedTransport)
    return given


def test_target_has_5_seconds_to_connect_and_15_in_all(deliveries: WebhookDeliveries, limits: dict[str, float]) -> None:
    deliveries.subscribe()
    limits.clear()  # of the ping
    deliveries.delivered()

    assert limits == {"to connect": 5, "in all": 15}


def test_each_webhook_of_an_event_gets_its_own_delivery(deliveries: WebhookDeliveries) -> None:
    for path in ("/one", "/two"):
        deliveries.subscribe(path=path)
    deliveries.change_account()
    deliveries.deliver()

    assert {request.path for request in deliveries.receiver.received} == {"/one", "/two"}
    assert len({request.headers["webhook-id"] for request in deliveries.receiver.received}) == 2


def test_new_webhook_is_pinged(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.webhooks.created("Login", deliveries.receiver.url(), Name="Shop")
    deliveries.deliver()

    (request,) = deliveries.receiver.received
    body = verified(webhook["SigningSecret"], request)
    assert (body["HookName"], body["Data"]) == ("ping", {"Id": webhook["Id"], "Event": "Login", "Name": "Shop"})


def test_new_webhook_that_is_disabled_is_not_pinged(deliveries: WebhookDeliveries) -> None:
    deliveries.subscribe(IsEnabled=False)

    assert deliveries.rows() == []


def test_older_receivers_verify_by_the_api_secret(deliveries: WebhookDeliveries) -> None:
    deliveries.subscribe()
    request = deliveries.delivered()

    expected = hmac.new(deliveries.tenant.api_secret.encode(), request.body, hashlib.sha256).hexdigest().upper()
    assert request.headers["signature"] == expected


def test_named_secret_is_the_webhooks_own(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe(SecretName="shop")
    request = deliveries.delivered()

    expected = hmac.new(webhook["SigningSecret"].encode(), request.body, hashlib.sha256).hexdigest().upper()
    assert request.headers["signature"] == expected


def test_both_secrets_verify_until_the_rotation_ends(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    renewed = answered(deliveries.webhooks.program("POST", f"/v2/manage/webhooks/{webhook['Id']}/rotate-secret"))
    during = deliveries.delivered()

    for secret in (webhook["SigningSecret"], renewed["SigningSecret"]):
        assert verified(secret, during)["HookName"] == "updateprofile"
    assert during.headers["webhook-signature"].count("v1,") == 2


def test_former_secret_ends_after_a_day(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    renewed = answered(deliveries.webhooks.program("POST", f"/v2/manage/webhooks/{webhook['Id']}/rotate-secret"))
    pass_time(deliveries.services, seconds=timedelta(hours=25).total_seconds())
    after = deliveries.delivered()

    assert after.headers["webhook-signature"].count("v1,") == 1
    content = b".".join((after.headers["webhook-id"].encode(), after.headers["webhook-timestamp"].encode(), after.body))
    key = base64.b64decode(renewed["SigningSecret"].removeprefix("whsec_"))
    signature = base64.b64encode(hmac.digest(key, content, "sha256")).decode()
    assert f"v1,{signature}" in after.headers["webhook-signature"]


def test_secret_of_another_webhook_does_not_verify(deliveries: WebhookDeliveries) -> None:
    other = deliveries.webhooks.created("Login", "https://elsewhere.example/hook", IsEnabled=False)
    deliveries.subscribe()

    with pytest.raises(WebhookVerificationError):
        verified(other["SigningSecret"], deliveries.delivered())


def test_published_key_verifies(deliveries: WebhookDeliveries) -> None:
    deliveries.subscribe()
    request = deliveries.delivered()
    deliveries.services.signing_keys.clear_cache()  # the worker, another process, made the key
    (key,) = deliveries.published_keys()

    content = b".".join(
        (request.headers["webhook-id"].encode(), request.headers["webhook-timestamp"].encode(), request.body)
    )
    signature = request.headers["webhook-signature"].rpartition("v1a,")[2]
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key["whpk"].removeprefix("whpk_")))
    public.verify(base64.b64decode(signature), content)


def test_cloud_event_is_structured_json(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe(Format="CloudEvents")
    uid = deliveries.change_account()
    deliveries.deliver()

    (request,) = deliveries.receiver.received
    event = verified(webhook["SigningSecret"], request)
    assert request.headers["content-type"] == "application/cloudevents+json"
    assert event["source"].startswith(f"http://{deliveries.tenant.name}.")
    assert {name: event[name] for name in ("specversion", "id", "type", "subject", "datacontenttype")} == {
        "specversion": "1.0",
        "id": request.headers["webhook-id"],
        "type": "gatehouse.updateprofile",
        "subject": uid,
        "datacontenttype": "application/json",
    }
    assert event["data"]["Uid"] == uid


def test_what_the_tenant_adds_is_sent(deliveries: WebhookDeliveries) -> None:
    basic = {"AuthType": "basic", "BasicAuth": {"Username": "ada", "Password": "open sésame"}}
    deliveries.subscribe(
        path="/hook?kind=account", Headers={"X-Team": "shop"}, QueryParams={"a b": "c&d=ü"}, Authentication=basic
    )
    request = deliveries.delivered()

    assert request.query == {"kind": "account", "a b": "c&d=ü"}
    assert request.headers["x-team"] == "shop"
    assert base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode() == "ada:open sésame"


def test_bearer_token_is_sent(deliveries: WebhookDeliveries) -> None:
    deliveries.subscribe(Authentication={"AuthType": "Bearer", "BearerToken": {"Token": "t0ken"}})

    assert deliveries.delivered().headers["authorization"] == "Bearer t0ken"


def test_changed_webhook_is_used_for_what_waits(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    deliveries.change_account()
    answered(
        deliveries.webhooks.program("PUT", f"/v2/manage/webhooks/{webhook['Id']}", {"Headers": {"X-Team": "late"}})
    )
    deliveries.deliver()

    assert deliveries.receiver.received[-1].headers["x-team"] == "late"


@pytest.mark.both_databases
def test_webhook_that_a_worker_does_not_know_yet_is_used(deliveries: WebhookDeliveries) -> None:
    clock = FixedClock()
    worker = Worker(deliveries.services.settings, deliveries.services.database, clock)

    def deliver() -> None:
        clock.at = deliveries.services.clock.now()
        while worker.deliver_due():
            pass

    disabled = deliveries.subscribe("Register", IsEnabled=False)
    deliveries.webhooks.created("Login", deliveries.receiver.url())
    deliver()  # which caches the webhooks
    deliveries.webhooks.created("UpdateProfile", deliveries.receiver.url())
    path = f"/v2/manage/webhooks/{disabled['Id']}"
    answered(deliveries.webhooks.program("PUT", path, {"IsEnabled": True}))
    deliveries.change_account()
    deliver()

    names = sorted(body_of(request)["HookName"] for request in deliveries.receiver.received)
    assert names == ["ping", "ping", "register", "updateprofile"]
    assert {row.state for row in deliveries.rows()} == {"sent"}


def statements(deliveries: WebhookDeliveries, uid: str) -> int:
    """Change an account, and return how many SQL statements that took."""
    response = deliveries.tenant.send("PUT", f"/identity/v2/manage/account/{uid}", {"FirstName": secrets.token_hex(4)})
    assert response.status_code == 200
    cost = dict(part.strip().split("=") for part in response.headers["X-Gatehouse-Cost"].split(";"))
    return int(cost["sql"])


@pytest.mark.both_databases
def test_event_costs_one_statement_with_a_webhook(deliveries: WebhookDeliveries) -> None:
    uid = str(deliveries.tenant.create()["Uid"])
    statements(deliveries, uid)  # reads the tenant and its webhooks
    without = statements(deliveries, uid)
    deliveries.subscribe("Login")
    statements(deliveries, uid)
    assert statements(deliveries, uid) == without, "no webhook receives this event"
    deliveries.subscribe()
    statements(deliveries, uid)
    rows = len(deliveries.rows())
    assert statements(deliveries, uid) == without + 1
    assert len(deliveries.rows()) == rows + 1


def test_deliveries_of_a_suspended_tenant_wait(deliveries: WebhookDeliveries) -> None:
    deliveries.subscribe()
    deliveries.change_account()
    set_active(deliveries, is_active=False)
    deliveries.deliver()
    assert deliveries.receiver.received == []
    assert deliveries.rows()[-1].state == "waiting"
    set_active(deliveries, is_active=True)
    pass_time(deliveries.services, hours=1)
    deliveries.deliver()
    assert len(deliveries.receiver.received) == 1


def set_active(deliveries: WebhookDeliveries, *, is_active: bool) -> None:
    with UnitOfWork(deliveries.services.database, deliveries.tenant.tenant_id).separate_transaction() as work:
        where = tenants.c.tenant_id == deliveries.tenant.tenant_id
        work.run(update(tenants).where(where).values(is_active=is_active))
