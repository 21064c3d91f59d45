"""Targets that fail, misbehave or are gone: what is tried again, what is not, and what the tenant hears."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from app.identity.assembly.worker import Worker
from app.identity.platform.outbox.outbox import decrypt_answer, decrypt_payload
from app.identity.webhooks import delivery
from app.kit.clock import FixedClock
from tests.support.accounts.mailbox import mails_to
from tests.support.fakes.https_receiver import HttpsReceiver, foreign_certificate, server_context
from tests.support.services.identity_service import pass_time
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import answered
from tests.support.tenants.webhook_deliveries import WebhookDeliveries

pytestmark = pytest.mark.database_alone  # a worker delivers all due messages of the database

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def logged(deliveries: WebhookDeliveries) -> dict[str, Any]:
    """Return what the log keeps of the newest delivery's last try."""
    answer = decrypt_answer(deliveries.services.encryption, deliveries.rows()[-1])
    assert answer is not None
    return answer


def fails_once(deliveries: WebhookDeliveries) -> Any:
    """Raise an event, let it fail, and return its row."""
    deliveries.change_account()
    deliveries.deliver()
    row = deliveries.rows()[-1]
    assert (row.state, row.attempts) == ("waiting", 1), row.last_problem
    return row


def misbehaves(receiver: HttpsReceiver) -> None:
    receiver.sends(b"no HTTP\r\n\r\n")


def presents_foreign_certificate(receiver: HttpsReceiver) -> None:
    receiver.context = server_context(foreign_certificate())


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 404, 429, 500, 503])
def test_other_status_than_2xx_is_tried_again(deliveries: WebhookDeliveries, status: int) -> None:
    deliveries.subscribe()
    deliveries.receiver.answers(status, headers={"Location": deliveries.receiver.url("/elsewhere")})
    row = fails_once(deliveries)

    assert row.status_code == status
    assert f"answered {status}" in row.last_problem
    assert [request.path for request in deliveries.receiver.received] == ["/hook"], "no redirect is followed"


@pytest.mark.parametrize("misbehave", [HttpsReceiver.closes_without_answer, misbehaves, presents_foreign_certificate])
def test_target_without_answer_is_tried_again(
    deliveries: WebhookDeliveries, misbehave: Callable[[HttpsReceiver], None]
) -> None:
    deliveries.subscribe()
    misbehave(deliveries.receiver)
    row = fails_once(deliveries)

    assert row.status_code is None
    assert any(words in row.last_problem for words in ("was closed", "isn’t HTTP", "isn’t trusted"))
    assert "Error" not in row.last_problem


def test_hanging_target_is_tried_again(deliveries: WebhookDeliveries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "IN_BACKGROUND", replace(delivery.IN_BACKGROUND, seconds=0.5))
    deliveries.subscribe()
    deliveries.receiver.hangs()

    assert "no complete answer within" in fails_once(deliveries).last_problem


def test_every_try_has_the_same_id_and_body(deliveries: WebhookDeliveries) -> None:
    deliveries.subscribe()
    deliveries.receiver.answers_in_turn(500, 503, 200)
    deliveries.change_account()
    for _ in range(3):
        deliveries.deliver()
        pass_time(deliveries.services, seconds=7_200)

    assert len(deliveries.receiver.received) == 3
    assert len({(request.headers["webhook-id"], request.body) for request in deliveries.receiver.received}) == 1
    times = [int(request.headers["webhook-timestamp"]) for request in deliveries.receiver.received]
    assert times == sorted(set(times))
    assert deliveries.rows()[-1].state == "sent"


@pytest.mark.parametrize(
    "misbehave", [HttpsReceiver.closes_mid_answer, lambda target: target.answers(200, b"x" * 10_000_000)]
)
def test_target_took_it_whatever_follows_the_status(
    deliveries: WebhookDeliveries, misbehave: Callable[[HttpsReceiver], None]
) -> None:
    deliveries.subscribe()
    misbehave(deliveries.receiver)
    deliveries.change_account()
    deliveries.deliver()

    assert deliveries.rows()[-1].state == "sent"
    assert len(logged(deliveries)["response"]["body"]) <= 4_096


def test_private_target_is_never_called(deliveries: WebhookDeliveries) -> None:
    """Its name led to a public address, and leads into a network of ours at the moment of the delivery."""
    deliveries.subscribe()
    deliveries.change_account()
    services = deliveries.services
    public = replace(services.settings, hub_domain="id.example.com", mail_from="door@id.example.com")
    assert public.reachable_networks == ()
    Worker(public, services.database, FixedClock(services.clock.now())).deliver_due()

    row = deliveries.rows()[-1]
    assert row.state == "waiting"
    assert "not public" in row.last_problem
    assert deliveries.receiver.received == []


def test_log_masks_what_the_tenant_adds(deliveries: WebhookDeliveries) -> None:
    secrets = {"header": "secret-header", "query": "secret query", "token": "secret-token"}
    bearer = {"AuthType": "Bearer", "BearerToken": {"Token": secrets["token"]}}
    webhook = deliveries.subscribe(
        Headers={"X-Key": secrets["header"]}, QueryParams={"key": secrets["query"]}, Authentication=bearer
    )
    repeated = " ".join([*secrets.values(), webhook["SigningSecret"]])
    deliveries.receiver.answers(500, repeated.encode(), {"X-Repeated": repeated})
    fails_once(deliveries)

    record = logged(deliveries)
    assert not any(secret in str(record) for secret in (*secrets.values(), "secret+query", webhook["SigningSecret"]))
    assert record["request"]["url"].endswith("/hook?key=********")
    assert record["request"]["headers"]["X-Key"] == record["request"]["headers"]["Authorization"] == "********"
    assert record["response"]["headers"]["x-repeated"] == " ".join(["********"] * 4)


@pytest.mark.both_databases
def test_gone_target_disables_its_webhook(deliveries: WebhookDeliveries) -> None:
    deliveries.tenant.change_settings(contacts={"webhooks": ["devs@acme.example", "ops@acme.example"]})
    webhook = deliveries.subscribe()
    deliveries.receiver.answers(410)
    deliveries.change_account()
    deliveries.change_account()
    deliveries.deliver()

    assert {row.state for row in deliveries.rows()[1:]} == {"dead"}
    assert len(deliveries.receiver.received) == 1, "what waited is not sent any more"
    assert answered(deliveries.webhooks.program("GET", f"/v2/manage/webhooks/{webhook['Id']}"))["IsEnabled"] is False
    assert entries_of(deliveries.tenant, "webhook.disabled") == [(None, {"id": webhook["Id"], "reason": "gone"})]
    for address in ("devs@acme.example", "ops@acme.example"):
        (mail,) = mails_to(deliveries.services, deliveries.tenant.tenant_id, address)
        assert "receiver.localhost" in mail["subject"].replace("\u2060", "")
        assert webhook["Id"] in mail["text"]


@pytest.mark.both_databases
def test_webhook_sends_again_once_it_is_enabled(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    deliveries.receiver.answers(410)
    deliveries.change_account()
    deliveries.deliver()
    deliveries.change_account()
    deliveries.deliver()
    assert len(deliveries.receiver.received) == 1
    answered(deliveries.webhooks.program("PUT", f"/v2/manage/webhooks/{webhook['Id']}", {"IsEnabled": True}))
    deliveries.receiver.answers(200)
    deliveries.change_account()
    deliveries.deliver()

    assert len(deliveries.receiver.received) == 2
    assert deliveries.rows()[-1].state == "sent"


@pytest.mark.both_databases
def test_worker_knows_new_and_enabled_webhooks_at_once(deliveries: WebhookDeliveries) -> None:
    """It remembers a tenant's webhooks for seconds, and gives up what waits for one that is gone."""
    now = FixedClock(deliveries.services.clock.now() + timedelta(minutes=5))
    worker = Worker(deliveries.services.settings, deliveries.services.database, now)
    disabled = deliveries.webhooks.created("UpdateProfile", deliveries.receiver.url("/disabled"), IsEnabled=False)
    deliveries.webhooks.created("Login", deliveries.receiver.url("/known"))
    worker.deliver_due()
    deliveries.webhooks.created("Login", deliveries.receiver.url("/new"))
    answered(deliveries.webhooks.program("PUT", f"/v2/manage/webhooks/{disabled['Id']}", {"IsEnabled": True}))
    deliveries.change_account()
    worker.deliver_due()

    assert sorted(request.path for request in deliveries.receiver.received) == ["/disabled", "/known", "/new"]


def test_deleted_webhook_gets_nothing_that_waited(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    deliveries.change_account()
    answered(deliveries.webhooks.program("DELETE", f"/v2/manage/webhooks/{webhook['Id']}"))
    deliveries.deliver()

    assert deliveries.receiver.received == []
    assert deliveries.rows()[-1].state == "dead"


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("method", ["DELETE", "PUT"])
def test_deliveries_of_ended_webhook_end_at_once(deliveries: WebhookDeliveries, method: str) -> None:
    """Also during the pause of a failing target; the log says that most were never tried."""
    webhook = deliveries.subscribe()
    deliveries.receiver.answers(503, headers={"Retry-After": "3600"})
    for _ in range(4):
        deliveries.change_account()
    deliveries.deliver()
    body = {"IsEnabled": False} if method == "PUT" else None
    answered(deliveries.webhooks.program(method, f"/v2/manage/webhooks/{webhook['Id']}", body))
    now = FixedClock(deliveries.services.clock.now())
    worker = Worker(deliveries.services.settings, deliveries.services.database, now)

    assert worker.deliver_due() == 1, "one claim ends them all"
    ended = deliveries.rows()[1:]
    assert {(row.state, row.finished_at) for row in ended} == {("dead", now.now())}
    assert {row.last_problem for row in ended} == {f"the webhook {'is disabled' if body else 'was deleted'}"}
    assert sorted(row.attempts for row in ended) in ([0, 0, 1, 1], [0, 0, 0, 2])
    assert len(deliveries.receiver.received) == 1


def test_refused_change_sends_nothing(deliveries: WebhookDeliveries) -> None:
    deliveries.subscribe()
    uid = str(deliveries.tenant.create()["Uid"])
    refused = deliveries.tenant.send("PUT", f"/identity/v2/manage/account/{uid}", {"Gender": "none of the list"})
    deliveries.deliver()

    assert refused.status_code == 400
    assert deliveries.receiver.received == []


def test_body_is_stored_encrypted(deliveries: WebhookDeliveries) -> None:
    deliveries.subscribe()
    deliveries.change_account(LastName="Lovelace")
    row = deliveries.rows()[-1]

    assert "Lovelace" in decrypt_payload(deliveries.services.encryption, row)["body"]
    assert b"Lovelace" not in row.sealed
    assert row.payload == []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120), (" 5 ", 5), ("0", None), ("", None), ("-1", None), ("soon", None), ("9" * 12, None), ("1.5", None), ("²", None),
        (format_datetime(NOW + timedelta(minutes=2), usegmt=True), 120), (format_datetime(NOW - timedelta(days=1), usegmt=True), None),
        ("Sun, 99 Nov 2026 12:00:00 GMT", None), ("Sun, 29 Nov 99999 12:00:00 GMT", None),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date(text: str, seconds: int | None) -> None:
    expected = timedelta(seconds=seconds) if seconds is not None else None

    assert delivery.wait_asked_for(text, NOW) == expected
