"""Removes all rows of a tenant or of an account, whichever tables there are: what a new area adds is removed with the rest."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, exists

from app.identity.platform.store.tables import all_tables
from app.identity.platform.store.unit import UnitOfWork

_KEPT = frozenset({"audit", "tenants"})
"""What was done stays told; a tenant's own row goes last, with the tenant."""


def delete_account_rows(work: UnitOfWork, uid: str, *, keep_tables: Collection[str] = ()) -> None:
    """Remove everything that an account had: sessions, tokens, codes, consents, identifiers and the account itself; `but` for
    what is kept in some tables."""
    for name, table in all_tables().items():
        if "uid" in table.c and name not in _KEPT and name not in keep_tables:
            work.run(delete(table).where(table.c.tenant_id == work.tenant_id, table.c.uid == uid))


def delete_orphaned_passkeys(work: UnitOfWork, uids: Collection[str]) -> None:
    """Remove the passkeys that were made for accounts which waited and never came to be."""
    if not uids:
        return
    held, accounts = all_tables()["credentials"].c, all_tables()["accounts"].c
    is_there = exists().where(accounts.tenant_id == held.tenant_id, accounts.uid == held.uid)
    mine = (held.tenant_id == work.tenant_id, held.uid.in_(uids))
    work.run(delete(all_tables()["credentials"]).where(*mine, ~is_there))


def delete_tenant_rows(work: UnitOfWork) -> None:
    """Remove the tenant and everything in it, the audit trail included."""
    for table in sorted(all_tables().values(), key=lambda table: table.name == "tenants"):
        work.run(delete(table).where(table.c.tenant_id == work.tenant_id))
