"""The queues of webhooks: a delivery for each one that receives an event, in the transaction of the change, and the end of a pause."""

from __future__ import annotations

from typing import Final

from app.contract.webhooks.delivery_operations import MAX_RESUMED
from app.contract.webhooks.events import EVERY_EVENT, EventName
from app.contract.webhooks.webhook_operations import WEBHOOKS
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.events import Subject
from app.identity.platform.outbox import queue_pauses
from app.identity.platform.outbox.outbox import QueuedDelivery
from app.identity.platform.outbox.queue_pauses import Resumption
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.resource_store import items_of
from app.identity.webhooks import payloads
from app.identity.webhooks.payloads import Occurrence
from app.kit import randomness

KIND: Final = "webhook"
"""Of messages in the outbox."""
_LAST_EVENT: Final[EventName] = "DeleteAccount"
"""Its delivery outlives the account, and its body goes with it."""


def post_event(context: Context, event: EventName, account: Subject) -> None:
    """Queue an event for the enabled webhooks that receive it. The tenant's webhooks are cached: without any, this makes no query."""
    webhooks = [item for item in items_of(context, WEBHOOKS).values() if receives(item, event)]
    if not webhooks:
        return
    if not isinstance(account, Account):
        raise TypeError(f"{event} needs the whole account, whose profile webhooks show")
    occurrence = payloads.of_account(event, account)
    for webhook in webhooks:
        _post(context, webhook, occurrence)


def post_ping(context: Context, webhook: Item) -> None:
    """Queue the first delivery of a new webhook, so that its owner sees at once whether the target answers."""
    _post(context, webhook, payloads.of_webhook(webhook))


def end_pause(context: Context, webhook: Item) -> Resumption:
    """Try the deliveries of a webhook again at once, because it was changed, or its target works again."""
    return queue_pauses.end_pause(context.work, KIND, webhook.name, context.now, most=MAX_RESUMED)


def is_enabled(webhook: Item) -> bool:
    return bool(webhook.content.get("is_enabled", True))


def receives(webhook: Item, event: EventName) -> bool:
    return webhook.content["event"] in (event, EVERY_EVENT) and is_enabled(webhook)


def _post(context: Context, webhook: Item, occurrence: Occurrence) -> None:
    message_id = randomness.uid()
    body = payloads.body_of(context, webhook, occurrence, message_id)
    delivery = QueuedDelivery(
        queue=webhook.name,
        order_key=occurrence.subject,
        event=occurrence.event,
        message_id=message_id,
        erase_when_done=occurrence.event == _LAST_EVENT,
    )
    context.outbox.post(KIND, {"body": body}, delivery=delivery)
