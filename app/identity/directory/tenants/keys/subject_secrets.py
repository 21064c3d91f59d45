"""The secret from which a tenant's pairwise identifiers derive: created once, never changed, because each identifier would change."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select

from app.identity.directory.tenants.tables import subject_secrets
from app.identity.platform.services import IdentityServices
from app.identity.platform.store import upserts
from app.identity.platform.store.encrypted_columns import encrypted_columns
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness

SIZE_BYTES: Final = 64
_T = subject_secrets.c


def secret_associated_data(tenant_id: str) -> str:
    """Return the associated data of the encrypted secret."""
    return f"{tenant_id} subject_secret"


def of(services: IdentityServices, work: UnitOfWork) -> bytes:
    """Return the tenant's secret; creates it.

    Only a committed secret is cached: after a rollback the identifiers of an uncommitted secret could not be computed again.
    """
    cached = services.subject_secrets.get(work.tenant_id)
    if cached is not None:
        return cached
    encrypted = _stored(work) or _create(services, work)
    stored = services.encryption.decrypt(encrypted, secret_associated_data(work.tenant_id))
    services.subject_secrets.put(work.tenant_id, stored, work, subject_secrets)
    return stored


def _create(services: IdentityServices, work: UnitOfWork) -> bytes:
    """Create the secret unless another request did, in a separate transaction where this one has not written."""
    secret = services.encryption.encrypt(randomness.random_bytes(SIZE_BYTES), secret_associated_data(work.tenant_id))
    row = {"tenant_id": work.tenant_id, "secret": secret, "created_at": services.clock.now()}
    statement = (
        upserts.insert(subject_secrets, is_sqlite=services.database.is_sqlite).values(row).on_conflict_do_nothing()
    )
    if work.is_writing:
        work.run(statement)
    else:
        with work.separate_transaction() as transaction:
            transaction.run(statement)
    stored = _stored(work)
    if stored is None:
        raise RuntimeError("the tenant's subject secret could not be stored")
    return stored


def _stored(work: UnitOfWork) -> bytes | None:
    row = work.one(select(_T.secret).where(_T.tenant_id == work.tenant_id))
    return row.secret if row is not None else None


ENCRYPTED_COLUMNS = encrypted_columns(
    subject_secrets, "secret", associated_data=lambda row: secret_associated_data(row["tenant_id"])
)
