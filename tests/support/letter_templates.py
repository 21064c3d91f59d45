"""Gives a tenant templates of its own, as a configuration file does."""

from app.contract.letters import MailTemplate, SmsTemplate
from app.identity.letters import store
from app.identity.store.unit import UnitOfWork
from app.identity.tenants import changes
from tests.support.tenant_server import TenantServer


def states(tenant: TenantServer, *stated: MailTemplate | SmsTemplate) -> None:
    with UnitOfWork(tenant.house.database, tenant.tenant_id).apart() as work:
        for template in stated:
            store.add(work, template, tenant.house.clock.now())
        changes.change(work)
    tenant.house.directory.forget()
