"""Encrypted secrets of a tenant: those of external services, and what rotating the secret key renews."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json, to_json
from sqlalchemy import select, true, update

from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tables import tenants
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.encryption import Encryption
from app.identity.platform.store.database import Database
from app.identity.platform.store.encrypted_columns import EncryptedColumns, Renew
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.platform.tenant import Tenant

CONNECTIONS = "connections"
"""The service name of connection secrets, which are stored by connection."""
APPLE_KEY = ".apple"
"""What follows a connection's name in the key of the private key that Apple issued; no name has a dot."""
CONSUMER_SECRET = ".consumer"
"""The same for the secret of X's OAuth 1.0a, whose key is the connection's `extra_field1`."""
Secrets = dict[str, dict[str, str]]


def secrets_of(encryption: Encryption, tenant: Tenant, service: str) -> Mapping[str, str]:
    """Return the stored secrets of a service. Raises DecryptionError."""
    return decrypt_all(encryption, tenant.tenant_id, tenant.sealed_service_secrets).get(service, {})


def decrypt_all(encryption: Encryption, tenant_id: str, encrypted: bytes | None) -> Secrets:
    """Return the secrets of all services. Raises DecryptionError."""
    if encrypted is None:
        return {}
    secrets: Secrets = from_json(
        encryption.decrypt(encrypted, tenant_writes.service_secrets_associated_data(tenant_id))
    )
    return secrets


def encrypt_merged(
    encryption: Encryption, tenant_id: str, encrypted: bytes | None, **updates: Mapping[str, str | None]
) -> bytes | None:
    """Merge secrets into the encrypted ones; returns the same bytes if nothing changed. None removes a secret."""
    before = decrypt_all(encryption, tenant_id, encrypted)
    after = dict(before)
    for name, item in updates.items():
        merged = {**before.get(name, {}), **item}
        after[name] = {key: secret for key, secret in merged.items() if secret is not None}
    after = {name: secrets for name, secrets in after.items() if secrets}
    return (
        encrypted
        if after == before
        else encryption.encrypt(to_json(after), tenant_writes.service_secrets_associated_data(tenant_id))
    )


def check_key(database: Database, encryption: Encryption) -> None:
    """Raise DecryptionError if this process does not know the secret that the database is encrypted under."""
    work = UnitOfWork(database, LOOKUP_TENANT)
    try:
        row = work.one(select(tenants.c.tenant_id, tenants.c.api_secret).order_by(tenants.c.tenant_id).limit(1))
        if row is not None:
            encryption.decrypt(row.api_secret, tenant_writes.api_secret_associated_data(row.tenant_id))
    finally:
        work.rollback()


def store_missing_digest(work: UnitOfWork, encryption: Encryption) -> None:
    """Store the digest of an API secret from before digests were stored. Raises DecryptionError."""
    missing = (tenants.c.tenant_id == work.tenant_id, tenants.c.api_secret_hash.is_(None))
    row = work.one(select(tenants.c.api_secret).where(*missing))
    if row is not None:
        place = tenant_writes.api_secret_associated_data(work.tenant_id)
        digest = tenant_writes.secret_digest(encryption.decrypt(row.api_secret, place).decode())
        work.run(update(tenants).where(*missing).values(api_secret_hash=digest))


def _renewed(row: Mapping[str, Any], renew: Renew) -> dict[str, Any]:
    associated_data = {
        "api_secret": tenant_writes.api_secret_associated_data,
        "captcha_secret": tenant_writes.captcha_associated_data,
        "service_secrets": tenant_writes.service_secrets_associated_data,
    }
    return {
        name: renew(row[name], place(row["tenant_id"]))
        for name, place in associated_data.items()
        if row[name] is not None
    }


ENCRYPTED_COLUMNS = EncryptedColumns(tenants, ("api_secret", "captcha_secret", "service_secrets"), _renewed, true())
