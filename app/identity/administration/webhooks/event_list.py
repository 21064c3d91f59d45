"""Lists the events of webhooks."""

from __future__ import annotations

from app.contract.webhooks import webhook_operations
from app.contract.webhooks.events import EVENTS
from app.contract.webhooks.webhook_operations import WebhookEvents
from app.identity.platform.context import Context
from app.kit.operations.wire import Nothing


def list_events(context: Context, req: Nothing) -> WebhookEvents:  # noqa: ARG001 - the handler's signature
    return WebhookEvents(data=list(EVENTS))


webhook_operations.list_events.implements(list_events)
webhook_operations.older_list_events.implements(list_events)
