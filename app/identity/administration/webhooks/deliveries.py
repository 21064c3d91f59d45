"""The log of a webhook's deliveries, and replays."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from app.contract import errors
from app.contract.webhooks import delivery_operations
from app.contract.webhooks.delivery_operations import (
    MAX_LISTED,
    MAX_REPLAYED,
    DeliveryAnswer,
    DeliveryPath,
    DeliveryRequest,
    ListDeliveries,
    ReplayDeliveries,
    Replayed,
    WebhookDeliveries,
    WebhookDelivery,
    WebhookDeliveryDetails,
)
from app.contract.webhooks.events import event_named
from app.identity.administration.tenant_settings.webhooks import SHOWS_PROFILES
from app.identity.administration.webhooks.trial_calls import require_webhook
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.outbox import delivery_log
from app.identity.platform.outbox.delivery_log import Selection
from app.identity.platform.outbox.outbox import HELD, decrypt_answer, decrypt_payload
from app.identity.webhooks.payloads import PING
from app.kit.clock import iso
from app.kit.limits.rate_limits import Rate

_WAITING: Final = "waiting"
_REPLAYED: Final = Rate(30_000, 60)
"""Deliveries that a tenant replays: each is a request to a server that did not ask for it."""


@delivery_operations.list_deliveries.implements
def list_deliveries(context: Context, req: ListDeliveries) -> WebhookDeliveries:
    webhook = require_webhook(context, req.webhook_id)
    limit, offset = req.window
    if limit is None or limit + offset > MAX_LISTED:
        raise errors.BadField(f"page: expected one of the first {MAX_LISTED:,} deliveries; use since and until.")
    selection = Selection(webhook.name, req.state, _event(req.event), req.since, req.until)
    rows = delivery_log.list_deliveries(context.work, selection, limit=limit, offset=offset)
    return WebhookDeliveries(data=[WebhookDelivery(**_facts(row)) for row in rows])


@delivery_operations.read_delivery.implements
def read_delivery(context: Context, req: DeliveryPath) -> WebhookDeliveryDetails:
    powers.require_powers(context, (SHOWS_PROFILES,))
    row = _require_delivery(context, req)
    encryption = context.services.encryption
    record = decrypt_answer(encryption, row) or {}
    sent, answer = record.get("request", {}), record.get("response")
    body = decrypt_payload(encryption, row).get("body")
    return WebhookDeliveryDetails(
        **_facts(row),
        request=DeliveryRequest(url=sent.get("url"), headers=sent.get("headers", {}), body=body),
        answer=DeliveryAnswer(status_code=answer["status"], headers=answer["headers"], body=answer["body"])
        if answer
        else None,
    )


@delivery_operations.replay_delivery.implements
def replay_delivery(context: Context, req: DeliveryPath) -> Replayed:
    row = _require_delivery(context, req)
    is_replayed = delivery_log.replay_delivery(context.work, req.webhook_id, row.message_id, context.now)
    return _replayed(context, req.webhook_id, int(is_replayed))


@delivery_operations.replay_deliveries.implements
def replay_deliveries(context: Context, req: ReplayDeliveries) -> Replayed:
    webhook = require_webhook(context, req.webhook_id)
    selection = Selection(webhook.name, req.state, since=req.since, until=req.until)
    replay = delivery_log.replay_deliveries(context.work, selection, context.now, most=MAX_REPLAYED)
    return _replayed(context, webhook.name, replay.count, replay.next)


def _replayed(context: Context, webhook_id: str, count: int, following: datetime | None = None) -> Replayed:
    if count:
        context.count_against("webhook replay", _REPLAYED, count=count)
    context.audit.record("webhook.replayed", id=webhook_id, deliveries=count)
    return Replayed(count=count, next=following.isoformat() if following is not None else None)


def _require_delivery(context: Context, req: DeliveryPath) -> Any:
    """Return the row of a delivery. Raises UnknownWebhook."""
    webhook = require_webhook(context, req.webhook_id)
    row = delivery_log.find_delivery(context.work, webhook.name, req.delivery_id)
    if row is None:
        raise errors.UnknownWebhook("The webhook has no delivery with this ID.")
    return row


def _event(name: str | None) -> str | None:
    """Return the name as deliveries have it. Raises BadField."""
    if name is None:
        return None
    known = PING if name.casefold() == PING else event_named(name)
    if known is None:
        raise errors.BadField("event: expected ping, or an event that `GET /v2/manage/webhooks/events` lists.")
    return known


def _facts(row: Any) -> dict[str, Any]:
    is_waiting = row.state == _WAITING
    return {
        "id": row.message_id,
        "event": row.event,
        "status_code": row.status_code,
        "attempt": row.attempts,
        "time": iso(row.created_at),
        "state": row.state,
        "due_at": iso(row.due_at) if is_waiting and row.due_at != HELD else None,
        "problem": row.last_problem,
    }
