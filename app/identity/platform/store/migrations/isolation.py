"""Row-level security on PostgreSQL, the second isolation of tenants (design section 5). SQLite has none.

A transaction sets its tenant in `gatehouse.tenant` (store/unit.py); without it no row is visible or writable. FORCE applies
this to the table owner too. Two reserved names, which no tenant has, may see the rows of all tenants in one table:

    lookup   reads `tenants`, to find a tenant by host name or API key
    outbox   reads and updates `outbox`, to claim due messages of every tenant
"""

from alembic import op

NAMED = "current_setting('gatehouse.tenant', true)"
LOOKUP, OUTBOX = "lookup", "outbox"


def is_postgres() -> bool:
    """Return whether this revision runs on PostgreSQL."""
    return op.get_context().dialect.name == "postgresql"


def protect(*tables: str) -> None:
    """Restrict reads and writes of these tables to the tenant of the transaction."""
    if not is_postgres():
        return
    for table in tables:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_tenant ON {table} USING (tenant_id = {NAMED}) WITH CHECK (tenant_id = {NAMED})")


def exempt_lookup() -> None:
    """Allow the lookup by host or key to read `tenants`."""
    if is_postgres():
        op.execute(f"CREATE POLICY lookup ON tenants FOR SELECT USING ({NAMED} = '{LOOKUP}')")


def exempt_outbox_claim() -> None:
    """Allow the outbox worker to read and update rows of every tenant, but not to insert or delete."""
    if is_postgres():
        op.execute(f"CREATE POLICY claim_read ON outbox FOR SELECT USING ({NAMED} = '{OUTBOX}')")
        op.execute(
            f"CREATE POLICY claim_mark ON outbox FOR UPDATE USING ({NAMED} = '{OUTBOX}') WITH CHECK ({NAMED} = '{OUTBOX}')"
        )
