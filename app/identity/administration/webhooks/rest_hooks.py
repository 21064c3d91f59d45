"""REST hooks: integrations subscribe URLs to events by the oldest operations, which write the same webhooks."""

from __future__ import annotations

from app.contract import errors
from app.contract.shared_responses import Deleted, Posted
from app.contract.webhooks import rest_hook_operations
from app.contract.webhooks.events import event_named
from app.contract.webhooks.rest_hook_operations import MAX_REST_HOOKS, ListedRestHook, RestHooks, RestHooksAllowed
from app.contract.webhooks.webhook_operations import MAX_WEBHOOKS, OLDER_WEBHOOKS
from app.identity.administration.resource_operations.resource_operations import lock_tenant, write_item
from app.identity.administration.resource_operations.write_resources import Writer
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.kit import randomness
from app.kit.operations.wire import Nothing


@rest_hook_operations.subscribe.implements
def subscribe(context: Context, req: rest_hook_operations.RestHook) -> Posted:
    writer, content = _writer(context), {**_identity(req), "is_integration_webhook": True}
    item = Item((randomness.guid(),), content, created_at=context.now, modified_at=context.now)
    writer.check(item)
    lock_tenant(context)
    writer.refuse_taken(item)
    stored = writer.store.items(writer.access, writer.resource)
    own = [other for other in stored if other.content.get("is_integration_webhook")]
    if len(own) >= MAX_REST_HOOKS or len(stored) >= MAX_WEBHOOKS:
        raise errors.TooManyWebhooks
    write_item(writer, None, item)
    return Posted()


@rest_hook_operations.list_subscriptions.implements
def list_subscriptions(context: Context, req: rest_hook_operations.ListRestHooks) -> RestHooks:
    event = event_named(req.event) if req.event is not None else None
    if req.event is not None and event is None:
        raise errors.WebhookEventRefused
    writer = _writer(context)
    stored = [item.content for item in writer.store.items(writer.access, writer.resource)]
    found = [content for content in stored if event in (None, content["event"])]
    data = [ListedRestHook(target_url=content["target_url"], event=content["event"]) for content in found]
    return RestHooks(data=data, count=len(data))


@rest_hook_operations.test_access.implements
def test_access(context: Context, req: Nothing) -> RestHooksAllowed:  # noqa: ARG001 - the handler's signature
    return RestHooksAllowed()


@rest_hook_operations.unsubscribe.implements
def unsubscribe(context: Context, req: rest_hook_operations.RestHook) -> Deleted:
    writer = _writer(context)
    lock_tenant(context)
    item = writer.store.find_by_unique_key(writer.access, writer.resource, Item((), _identity(req)))
    if item is None:
        raise errors.WebhookNotSubscribed
    writer.remove(item)
    return Deleted()


def _identity(req: rest_hook_operations.RestHook) -> dict[str, str]:
    return {"target_url": req.target_url, "event": event_named(req.event) or req.event}


def _writer(context: Context) -> Writer:
    """Return the writer of webhooks with the errors of the older addresses."""
    return Writer(context, OLDER_WEBHOOKS, errors.BadParameter, errors.WebhookUrlTaken())
