"""What services outside gave a tenant: kept sealed together, by the service's name."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_core import from_json, to_json
from sqlalchemy import select, update

from app.identity.directory.tenants import changes
from app.identity.directory.tenants.store import LOOKUP_TENANT
from app.identity.directory.tenants.tables import signing_keys, tenants
from app.identity.platform.encryption import Encryption
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork
from app.identity.platform.tenant import Tenant

CONNECTIONS = "connections"
"""The service under which the secrets of connections lie, by their names."""
Secrets = dict[str, dict[str, str]]


def secrets_of(encryption: Encryption, tenant: Tenant, service: str) -> Mapping[str, str]:
    """Return a service's secrets, those that are there. Raises DecryptionError."""
    return decrypt_all(encryption, tenant.tenant_id, tenant.sealed_service_secrets).get(service, {})


def decrypt_all(encryption: Encryption, tenant_id: str, sealed: bytes | None) -> Secrets:
    """Return the secrets of all services. Raises DecryptionError."""
    if sealed is None:
        return {}
    held: Secrets = from_json(encryption.decrypt(sealed, changes.service_secrets_associated_data(tenant_id)))
    return held


def encrypt_merged(
    encryption: Encryption, tenant_id: str, held: bytes | None, **stated: Mapping[str, str | None]
) -> bytes | None:
    """Return the sealed secrets with the stated ones in place of those that stand; the same bytes where nothing differs.

    None takes a secret away.
    """
    before = decrypt_all(encryption, tenant_id, held)
    after = dict(before)
    for name, given in stated.items():
        merged = {**before.get(name, {}), **given}
        after[name] = {key: secret for key, secret in merged.items() if secret is not None}
    after = {name: secrets for name, secrets in after.items() if secrets}
    return (
        held
        if after == before
        else encryption.encrypt(to_json(after), changes.service_secrets_associated_data(tenant_id))
    )


def check_key(database: Database, encryption: Encryption) -> None:
    """Raise DecryptionError where the secrets of this process are not those that the store was sealed under."""
    work = UnitOfWork(database, LOOKUP_TENANT)
    try:
        row = work.one(select(tenants.c.tenant_id, tenants.c.api_secret).order_by(tenants.c.tenant_id).limit(1))
        if row is not None:
            encryption.decrypt(row.api_secret, changes.api_secret_associated_data(row.tenant_id))
    finally:
        work.rollback()


def reencrypt(work: UnitOfWork, encryption: Encryption) -> int:
    """Seal the tenant's secrets and private keys anew where they lie under an older secret; returns how many."""
    columns = (tenants.c.api_secret, tenants.c.captcha_secret, tenants.c.service_secrets)
    tenant_id = work.tenant_id
    associated = (
        changes.api_secret_associated_data(tenant_id), changes.captcha_associated_data(tenant_id),
        changes.service_secrets_associated_data(tenant_id),
    )  # fmt: skip
    count = 0
    for row in work.all(select(*columns).where(tenants.c.tenant_id == work.tenant_id)):
        for column, value, associated_data in zip(columns, row, associated, strict=True):
            if value is not None and not encryption.is_current(value):
                changes.change(
                    work,
                    **{column.name: encryption.encrypt(encryption.decrypt(value, associated_data), associated_data)},
                )
                count += 1
        _keep_digest(work, encryption.decrypt(row.api_secret, associated[0]).decode())
    keys = select(signing_keys.c.kid, signing_keys.c.private_key).where(signing_keys.c.tenant_id == work.tenant_id)
    for row in work.all(keys):
        if not encryption.is_current(row.private_key):
            associated_data = f"{work.tenant_id} {row.kid}"
            where = (signing_keys.c.tenant_id == work.tenant_id, signing_keys.c.kid == row.kid)
            value = encryption.encrypt(encryption.decrypt(row.private_key, associated_data), associated_data)
            work.run(update(signing_keys).where(*where).values(private_key=value))
            count += 1
    return count


def _keep_digest(work: UnitOfWork, api_secret: str) -> None:
    """Let the secret find the tenant, where it was made before digests were kept."""
    missing = (tenants.c.tenant_id == work.tenant_id, tenants.c.api_secret_hash.is_(None))
    work.run(update(tenants).where(*missing).values(api_secret_hash=changes.secret_digest(api_secret)))
