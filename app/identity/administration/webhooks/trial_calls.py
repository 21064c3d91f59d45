"""Test calls of webhooks, one ping whose answer the caller waits for; and the end of a pause."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.webhooks import delivery_operations
from app.contract.webhooks.delivery_operations import Resumed, WebhookPath, WebhookTested
from app.contract.webhooks.webhook_operations import WEBHOOKS
from app.identity.administration.tenant_settings.webhooks import SHOWS_PROFILES
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.identity.webhooks import delivery, payloads, subscriptions, webhook_requests
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from app.kit.outbound.host_resolver import Resolver

_RATE: Final = Rate(30, 60)
"""Of a tenant: each call may hold a thread for fifteen seconds."""
_RESUMPTIONS: Final = Rate(60, 60)
"""Of a tenant, more than it has webhooks: each may hold a thread of the worker as long."""


@delivery_operations.test.implements
def test(context: Context, req: WebhookPath) -> WebhookTested:
    webhook = require_webhook(context, req.webhook_id)
    context.count_against("webhook test", _RATE)
    message_id = randomness.uid()
    body = payloads.body_of(context, webhook, payloads.of_webhook(webhook), message_id)
    signing = webhook_requests.Signing(context)
    request = webhook_requests.request_of(signing, webhook, message_id, body, context.now)
    context.work.release_connection()
    resolver = Resolver(context.services.settings.reachable_networks)
    outcome = delivery.try_once(resolver, webhook, request, context.now, delivery.WHILE_ONE_WAITS)
    if not outcome.problem:
        subscriptions.end_pause(context, webhook)
    context.audit.record("webhook.tested", id=webhook.name, status=outcome.status_code)
    return WebhookTested(
        is_posted=not outcome.problem, status_code=outcome.status_code, problem=outcome.problem or None
    )


@delivery_operations.resume.implements
def resume(context: Context, req: WebhookPath) -> Resumed:
    powers.require_powers(context, (SHOWS_PROFILES,))
    webhook = require_webhook(context, req.webhook_id)
    context.count_against("webhook resumption", _RESUMPTIONS)
    resumption = subscriptions.end_pause(context, webhook)
    context.audit.record("webhook.resumed", id=webhook.name, deliveries=resumption.count)
    return Resumed(was_paused=resumption.was_paused, count=resumption.count)


def require_webhook(context: Context, webhook_id: str) -> Item:
    """Return the webhook as it is stored. Raises UnknownWebhook."""
    webhook = SHARED_TABLE.item(StoreAccess.of(context), WEBHOOKS, (webhook_id,))
    if webhook is None:
        raise errors.UnknownWebhook
    return webhook
