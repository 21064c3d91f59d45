"""Row-level security on PostgreSQL: the second lock around a tenant's rows (design section 5). SQLite has none.

A transaction names its tenant in `gatehouse.tenant` (store/unit.py). Nothing named: nothing seen, nothing written. FORCE
binds the owner as well. Two names that are no tenant's may see more, and each only in its one table:

    lookup   reads `tenants`, to find a tenant by host name or API key
    outbox   reads and marks `outbox`, to claim what is due whichever tenant it is of
"""

from alembic import op

NAMED = "current_setting('gatehouse.tenant', true)"
LOOKUP, OUTBOX = "lookup", "outbox"


def is_postgres() -> bool:
    """Return whether this revision runs on PostgreSQL."""
    return op.get_context().dialect.name == "postgresql"


def protect(*tables: str) -> None:
    """Let each of these tables show and take only rows of the tenant that the transaction names."""
    if not is_postgres():
        return
    for table in tables:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_tenant ON {table} USING (tenant_id = {NAMED}) WITH CHECK (tenant_id = {NAMED})")


def exempt_lookup() -> None:
    """Let the look-up of host or key read `tenants`."""
    if is_postgres():
        op.execute(f"CREATE POLICY lookup ON tenants FOR SELECT USING ({NAMED} = '{LOOKUP}')")


def exempt_outbox_claim() -> None:
    """Let the outbox worker read and mark rows of every tenant; it can neither add nor remove one."""
    if is_postgres():
        op.execute(f"CREATE POLICY claim_read ON outbox FOR SELECT USING ({NAMED} = '{OUTBOX}')")
        op.execute(
            f"CREATE POLICY claim_mark ON outbox FOR UPDATE USING ({NAMED} = '{OUTBOX}') WITH CHECK ({NAMED} = '{OUTBOX}')"
        )
