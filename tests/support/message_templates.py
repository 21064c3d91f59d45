"""Gives a tenant templates of its own, as a configuration file does."""

from app.contract.messages import MailTemplate, TextMessageTemplate
from app.identity.directory.tenants import changes
from app.identity.messaging import store
from app.identity.platform.store.unit import UnitOfWork
from tests.support.oauth_world import World
from tests.support.tenant_server import TenantServer


def add_templates(tenant: TenantServer | World, *templates: MailTemplate | TextMessageTemplate) -> None:
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        for template in templates:
            store.add(work, template, tenant.services.clock.now())
        changes.change(work)
    tenant.services.directory.clear_cache()
