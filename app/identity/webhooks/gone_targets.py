"""Disables a webhook whose target is gone, and tells the tenant."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from app.contract.messages.models import MailKind
from app.contract.webhooks.webhook_operations import WEBHOOKS
from app.identity.directory.tenants import tenant_writes
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.platform.tenant import Tenant
from app.identity.webhooks import subscriptions


def disable(services: IdentityServices, tenant: Tenant, webhook: Item) -> None:
    """Disable a webhook whose target answered 410 Gone, in a transaction of its own; once, also where several deliveries learn it."""
    work = UnitOfWork(services.database, tenant.tenant_id)
    context = Context.outside_requests(services, tenant, work)
    try:
        work.begin()
        stored = None if tenant_writes.lock(work) is None else _stored(context, webhook)
        if stored is None or not subscriptions.is_enabled(stored) or stored.modified_at != webhook.modified_at:
            return  # changed since the delivery began: whoever enabled it wants to try again
        content = {**stored.content, "is_enabled": False}
        changed = replace(stored, content=content, modified_at=context.now)
        SHARED_TABLE.change(StoreAccess.of(context), WEBHOOKS, changed)
        tenant_writes.change(work)
        context.audit.record("webhook.disabled", id=webhook.name, reason="gone")
        _notify(context, stored)
        context.commit()
        services.directory.clear_cache()
    finally:
        work.rollback()


def _stored(context: Context, webhook: Item) -> Item | None:
    return SHARED_TABLE.item(StoreAccess.of(context), WEBHOOKS, webhook.id)


def _notify(context: Context, webhook: Item) -> None:
    host = urlsplit(webhook.content["target_url"]).hostname or ""
    facts = MessageFacts(domain=host, event=webhook.content["event"], webhook=webhook.name)
    for address in context.tenant.settings.contacts.of("webhooks"):
        messaging.mail(context, MailKind.WEBHOOK_DISABLED, address, account=None, facts=facts)
