"""The consent log: its table, whose entries are added and never changed, and its queries, always within the account."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Index, bindparam, insert, select

from app.identity.platform.context import Context
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

consent_log = tenant_table(
    "consent_log",
    Column("entry_id", Id, primary_key=True),
    Column("uid", Id, nullable=False),
    Column("at", Instant, nullable=False),
    Column("entry", Json, nullable=False),  # in the interface's form
    Index("ix_consent_log_uid", "tenant_id", "uid", "at"),
)


L = consent_log.c
_OF_ACCOUNT = (
    select(L.entry)
    .where(L.tenant_id == bindparam("tenant"), L.uid == bindparam("account"))
    .order_by(L.at.desc(), L.entry_id.desc())
)


def add(context: Context, uid: str, entry: dict[str, Any]) -> None:
    """Add an entry in the interface's form."""
    row = {
        "tenant_id": context.tenant.tenant_id,
        "entry_id": entry["Id"],
        "uid": uid,
        "at": context.now,
        "entry": entry,
    }
    context.work.run(insert(consent_log), row)


def of_account(context: Context, uid: str) -> list[dict[str, Any]]:
    """Return an account's entries, newest first."""
    rows = context.work.run(_OF_ACCOUNT, {"tenant": context.tenant.tenant_id, "account": uid})
    return [dict(row.entry) for row in rows]
