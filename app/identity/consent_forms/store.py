"""The queries of the consent log, always inside the tenant and the account."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, insert, select

from app.identity.call import Call
from app.identity.consent_forms.tables import consent_log

L = consent_log.c
_OF_ACCOUNT = (
    select(L.entry)
    .where(L.tenant_id == bindparam("tenant"), L.uid == bindparam("account"))
    .order_by(L.at.desc(), L.entry_id.desc())
)


def add(call: Call, uid: str, entry: dict[str, Any]) -> None:
    """Add an entry of the interface's form."""
    row = {"tenant_id": call.tenant.tenant_id, "entry_id": entry["Id"], "uid": uid, "at": call.now, "entry": entry}
    call.work.run(insert(consent_log), row)


def of_account(call: Call, uid: str) -> list[dict[str, Any]]:
    """Return an account's entries, the newest first."""
    rows = call.work.run(_OF_ACCOUNT, {"tenant": call.tenant.tenant_id, "account": uid})
    return [dict(row.entry) for row in rows]
