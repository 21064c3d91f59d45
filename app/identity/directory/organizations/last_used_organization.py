"""The organization that an account last used with an application, as a hint for the next choice."""

from __future__ import annotations

from sqlalchemy import select

from app.identity.directory.organizations.tables import organization_last_used
from app.identity.platform.context import Context
from app.identity.platform.store import upserts

L = organization_last_used.c


def read(context: Context, uid: str, client_id: str) -> str | None:
    """Return the id of the organization; the account may have left it since."""
    where = (L.tenant_id == context.tenant.tenant_id, L.uid == uid, L.client_id == client_id)
    row = context.work.one(select(L.org_id).where(*where))
    return row.org_id if row is not None else None


def record(context: Context, uid: str, client_id: str, org_id: str) -> None:
    """Remember the organization; the same one again writes nothing."""
    values = {"tenant_id": context.tenant.tenant_id, "uid": uid, "client_id": client_id, "org_id": org_id}
    insert = upserts.insert(organization_last_used, is_sqlite=context.services.database.is_sqlite).values(values)
    key = [L.tenant_id, L.uid, L.client_id]
    context.work.run(
        insert.on_conflict_do_update(index_elements=key, set_={"org_id": org_id}, where=L.org_id != org_id)
    )
