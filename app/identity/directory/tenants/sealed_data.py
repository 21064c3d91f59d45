"""What of a tenant lies sealed, and how it is sealed anew under the first secret."""

from __future__ import annotations

from sqlalchemy import select, update

from app.identity.directory.tenants import changes
from app.identity.directory.tenants.store import LOOKUP_TENANT
from app.identity.directory.tenants.tables import signing_keys, tenants
from app.identity.platform.encryption import Encryption
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork


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
