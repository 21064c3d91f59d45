"""Removes all rows of a tenant or of an account, whichever tables there are: what a new area adds is removed with the rest."""

from __future__ import annotations

from sqlalchemy import delete

from app.identity.store.schema import metadata
from app.identity.store.unit import UnitOfWork

_KEPT = frozenset({"audit", "tenants"})
"""What was done stays told; a tenant's own row goes last, with the tenant."""


def rows_of_account(work: UnitOfWork, uid: str) -> None:
    """Remove everything that an account had: sessions, tokens, codes, consents, identifiers and the account itself."""
    for name, table in metadata.tables.items():
        if "uid" in table.c and name not in _KEPT:
            work.run(delete(table).where(table.c.tenant_id == work.tenant_id, table.c.uid == uid))


def rows_of_tenant(work: UnitOfWork) -> None:
    """Remove the tenant and everything in it, the audit trail included."""
    for table in sorted(metadata.tables.values(), key=lambda table: table.name == "tenants"):
        work.run(delete(table).where(table.c.tenant_id == work.tenant_id))
