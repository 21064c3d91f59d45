"""Gives a tenant templates of its own, as a configuration file does."""

from app.contract.messages.models import MailTemplate, TextMessageTemplate
from app.identity.directory.tenants import tenant_writes
from app.identity.messaging.tenant_templates import template_store
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.world import World
from tests.support.tenants.tenant_server import TenantServer


def add_templates(tenant: TenantServer | World, *templates: MailTemplate | TextMessageTemplate) -> None:
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        for template in templates:
            template_store.add(work, template, tenant.services.clock.now())
        tenant_writes.change(work)
    tenant.services.directory.clear_cache()
