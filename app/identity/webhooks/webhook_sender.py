"""Delivers messages of the kind `webhook` to the target as it is configured now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from app.contract.webhooks.targets import is_listener
from app.contract.webhooks.webhook_operations import WEBHOOKS
from app.identity.platform.context import Context
from app.identity.platform.outbox.sender import DeliveryError, Message, Receipt, Sender
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE, items_of
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.platform.tenant import Tenant
from app.identity.webhooks import delivery, gone_targets, subscriptions, webhook_requests
from app.identity.webhooks.delivery import Outcome
from app.identity.webhooks.webhook_requests import WebhookRequest
from app.kit.outbound.host_resolver import Resolver


@dataclass(frozen=True)
class _Ready:
    """A request that needs no connection to the store any more."""

    tenant: Tenant
    webhook: Item
    request: WebhookRequest
    now: datetime


class WebhookSender(Sender):
    """Posts the stored body, signed at each try.

    Args:
        services: returns those of the worker, which a worker without webhooks never needs.
    """

    keeps_payload = True

    def __init__(self, services: Callable[[], IdentityServices]) -> None:
        self._services = services

    def send(self, message: Message) -> Receipt:
        """Deliver one event. Raises DeliveryError, a final one if the webhook is deleted or disabled, or its target is gone."""
        services = self._services()
        ready = self._prepare(services, message)
        if is_listener(ready.webhook.content["target_url"]):
            return Receipt()  # its program reads the log
        resolver = Resolver(services.settings.reachable_networks)
        outcome = delivery.try_once(resolver, ready.webhook, ready.request, ready.now, delivery.IN_BACKGROUND)
        if not outcome.problem:
            return Receipt(outcome.status_code, outcome.record)
        if outcome.is_gone:
            gone_targets.disable(services, ready.tenant, ready.webhook)
        raise _error(outcome)

    def _prepare(self, services: IdentityServices, message: Message) -> _Ready:
        """Return the request, from what other processes wrote seconds ago at the latest. Raises DeliveryError."""
        tenant = services.directory.by_id(message.tenant_id)
        if tenant is None:
            raise DeliveryError("the tenant is suspended")
        work = UnitOfWork(services.database, tenant.tenant_id)
        context = Context.outside_requests(services, tenant, work)
        try:
            webhook = _webhook(context, message.queue or "")
            signing, now = webhook_requests.Signing(context), context.now
            body = str(message.payload["body"])
            request = webhook_requests.request_of(signing, webhook, message.message_id, body, now)
        finally:
            work.rollback()
        return _Ready(tenant, webhook, request, now)


def _webhook(context: Context, webhook_id: str) -> Item:
    """Return the webhook from the cache. What ends a delivery for good is read anew: the webhook may be some seconds old, or enabled
    again. Raises DeliveryError."""
    webhook = items_of(context, WEBHOOKS).get((webhook_id,))
    if webhook is None or not subscriptions.is_enabled(webhook):
        webhook = SHARED_TABLE.item(StoreAccess.of(context), WEBHOOKS, (webhook_id,))
    if webhook is None:
        raise DeliveryError("the webhook was deleted", ends_queue=True)
    if not subscriptions.is_enabled(webhook):
        raise DeliveryError("the webhook is disabled", ends_queue=True)
    return webhook


def _error(outcome: Outcome) -> DeliveryError:
    receipt = Receipt(outcome.status_code, outcome.record)
    return DeliveryError(outcome.problem, is_final=outcome.is_gone, receipt=receipt, retry_after=outcome.retry_after)
