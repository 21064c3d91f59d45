"""Deletes all rows of a tenant or an account from every table of the schema, new tables included."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import case, delete, exists, null, update

from app.identity.platform.store.tables import all_tables
from app.identity.platform.store.unit_of_work import UnitOfWork

_EXCLUDED = frozenset({"audit", "tenants"})
"""The audit log outlives accounts; the row in `tenants` is deleted last."""


def delete_account_rows(work: UnitOfWork, uid: str, *, keep_tables: Collection[str] = ()) -> None:
    """Delete an account with its sessions, tokens, codes, consents and identifiers, except from `keep_tables`.

    The account is deleted first: an operation that has locked it adds its rows before, and an operation that waits finds none.
    """
    for name, table in sorted(all_tables().items(), key=lambda item: item[0] != "accounts"):
        if "uid" in table.c and name not in _EXCLUDED and name not in keep_tables:
            work.run(delete(table).where(table.c.tenant_id == work.tenant_id, table.c.uid == uid))
    _erase_messages(work, uid)


def _erase_messages(work: UnitOfWork, uid: str) -> None:
    """Erase what was sent about an account from the log of deliveries; what waits is still sent, and erased then."""
    outbox = all_tables()["outbox"]
    o = outbox.c
    is_waiting = o.state == "waiting"
    contents = {name: case((is_waiting, o[name]), else_=null()) for name in ("sealed", "sealed_answer")}
    erased = update(outbox).where(o.tenant_id == work.tenant_id, o.order_key == uid)
    work.run(erased.values(erase_when_done=True, **contents))


def delete_orphaned_passkeys(work: UnitOfWork, uids: Collection[str]) -> None:
    """Delete passkeys that were created for pending accounts which never became real."""
    if not uids:
        return
    credentials, accounts = all_tables()["credentials"], all_tables()["accounts"].c
    columns = credentials.c
    has_account = exists().where(accounts.tenant_id == work.tenant_id, accounts.uid == columns.uid)
    work.run(delete(credentials).where(columns.tenant_id == work.tenant_id, columns.uid.in_(uids), ~has_account))


def delete_client_rows(work: UnitOfWork, client_ids: Collection[str]) -> None:
    """Delete applications with their tokens, codes, consents and everything else that names them, except the audit log."""
    for name, table in all_tables().items():
        if "client_id" in table.c and name not in _EXCLUDED:
            work.run(delete(table).where(table.c.tenant_id == work.tenant_id, table.c.client_id.in_(client_ids)))


def delete_tenant_rows(work: UnitOfWork) -> None:
    """Delete a tenant and all its rows, the audit log included."""
    for table in sorted(all_tables().values(), key=lambda table: table.name == "tenants"):
        work.run(delete(table).where(table.c.tenant_id == work.tenant_id))
