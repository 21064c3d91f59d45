"""Re-encryption of stored values under the current secret, so that older secrets can be removed."""

from __future__ import annotations

from typing import Final

from app.identity.authentication.registration import choice_lists
from app.identity.credentials import credential_store
from app.identity.directory.accounts import pin_hash, provider_tokens
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.setup import setup_link_store
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys import client_secrets, signing_keys, subject_secrets, tenant_secrets
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.outbox import claims
from app.identity.platform.resource_storage import resource_store
from app.identity.platform.services import IdentityServices
from app.identity.platform.store import encrypted_columns
from app.identity.platform.store.unit_of_work import UnitOfWork

ENCRYPTED_COLUMNS: Final = (
    tenant_secrets.ENCRYPTED_COLUMNS,
    signing_keys.ENCRYPTED_COLUMNS,
    subject_secrets.ENCRYPTED_COLUMNS,
    client_secrets.ENCRYPTED_COLUMNS,
    choice_lists.ENCRYPTED_COLUMNS,
    credential_store.ENCRYPTED_COLUMNS,
    pin_hash.ENCRYPTED_COLUMNS,
    provider_tokens.ENCRYPTED_COLUMNS,
    resource_store.ENCRYPTED_COLUMNS,
    organization_connection_store.ENCRYPTED_COLUMNS,
    setup_link_store.ENCRYPTED_COLUMNS,
)
"""Every encrypted value of a tenant but those of its outgoing messages."""


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
        tenant_secrets.store_missing_digest(work, services.encryption)
        count = sum(encrypted_columns.reencrypt(work, services.encryption, columns) for columns in ENCRYPTED_COLUMNS)
        if tenant_secrets.ENCRYPTED_COLUMNS.table.name in work.changed_tables:
            tenant_writes.change(work)  # caches hold the tenant's row
        work.commit()
        return count
    finally:
        work.rollback()
