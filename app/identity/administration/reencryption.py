"""Re-encryption of stored values under the current secret, so that older secrets can be removed."""

from __future__ import annotations

from app.identity.authentication.registration import choice_lists
from app.identity.credentials import credential_store
from app.identity.directory.accounts import pin_hash, provider_tokens
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.setup import setup_link_store
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys import client_secrets, tenant_secrets
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.outbox import claims
from app.identity.platform.resource_storage import resource_store
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork


def reencrypt(services: IdentityServices) -> int:
    """Re-encrypt all values and return their number. Raises DecryptionError if no known secret decrypts one."""
    work = UnitOfWork(services.database, LOOKUP_TENANT)
    try:
        tenants = tenant_writes.all_tenants(work)
    finally:
        work.rollback()
    return sum(_of_tenant(services, tenant) for tenant in tenants) + claims.reencrypt(
        services.database, services.encryption
    )


def _of_tenant(services: IdentityServices, tenant: tenant_writes.TenantRow) -> int:
    work = UnitOfWork(services.database, tenant.tenant_id)
    try:
        count = tenant_secrets.reencrypt(work, services.encryption) + choice_lists.reencrypt(work, services.encryption)
        count += credential_store.reencrypt(work, services.encryption) + pin_hash.reencrypt(work, services.encryption)
        count += resource_store.reencrypt(work, services.encryption)
        count += provider_tokens.reencrypt(work, services.encryption)
        count += organization_connection_store.reencrypt(work, services.encryption)
        count += setup_link_store.reencrypt(work, services.encryption)
        count += client_secrets.reencrypt(work, services.encryption)
        work.commit()
        return count
    finally:
        work.rollback()
