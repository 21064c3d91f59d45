"""Encrypted secrets of a tenant: those of external services, and the reencryption of all of them."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_core import from_json, to_json
from sqlalchemy import select, update

from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys.subject_secrets import secret_associated_data
from app.identity.directory.tenants.tables import signing_keys, subject_secrets, tenants
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.encryption import Encryption
from app.identity.platform.store.database import Database
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


def reencrypt(work: UnitOfWork, encryption: Encryption) -> int:
    """Reencrypt the tenant's secrets and private keys that are under an older secret. Return their number."""
    columns = (tenants.c.api_secret, tenants.c.captcha_secret, tenants.c.service_secrets)
    tenant_id = work.tenant_id
    associated = (
        tenant_writes.api_secret_associated_data(tenant_id), tenant_writes.captcha_associated_data(tenant_id),
        tenant_writes.service_secrets_associated_data(tenant_id),
    )  # fmt: skip
    count = 0
    for row in work.all(select(*columns).where(tenants.c.tenant_id == work.tenant_id)):
        for column, value, associated_data in zip(columns, row, associated, strict=True):
            if value is not None and not encryption.is_current(value):
                tenant_writes.change(
                    work,
                    **{column.name: encryption.encrypt(encryption.decrypt(value, associated_data), associated_data)},
                )
                count += 1
        _store_missing_digest(work, encryption.decrypt(row.api_secret, associated[0]).decode())
    keys = select(signing_keys.c.kid, signing_keys.c.private_key).where(signing_keys.c.tenant_id == work.tenant_id)
    for row in work.all(keys):
        if not encryption.is_current(row.private_key):
            associated_data = f"{work.tenant_id} {row.kid}"
            where = (signing_keys.c.tenant_id == work.tenant_id, signing_keys.c.kid == row.kid)
            value = encryption.encrypt(encryption.decrypt(row.private_key, associated_data), associated_data)
            work.run(update(signing_keys).where(*where).values(private_key=value))
            count += 1
    return count + _reencrypt_subject_secret(work, encryption)


def _reencrypt_subject_secret(work: UnitOfWork, encryption: Encryption) -> int:
    """Encrypt the secret of pairwise identifiers anew; the secret itself stays."""
    where, associated_data = subject_secrets.c.tenant_id == work.tenant_id, secret_associated_data(work.tenant_id)
    row = work.one(select(subject_secrets.c.secret).where(where))
    if row is None or encryption.is_current(row.secret):
        return 0
    value = encryption.encrypt(encryption.decrypt(row.secret, associated_data), associated_data)
    work.run(update(subject_secrets).where(where).values(secret=value))
    return 1


def _store_missing_digest(work: UnitOfWork, api_secret: str) -> None:
    """Store the digest of an API secret from before digests were stored."""
    missing = (tenants.c.tenant_id == work.tenant_id, tenants.c.api_secret_hash.is_(None))
    work.run(update(tenants).where(*missing).values(api_secret_hash=tenant_writes.secret_digest(api_secret)))
