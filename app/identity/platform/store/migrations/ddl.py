"""Schema changes that several revisions use: row-level security, and index changes that do not block the users of a table.

Row-level security on PostgreSQL is the second isolation of tenants; SQLite has none. A transaction sets
its tenant in `gatehouse.tenant` (store/unit_of_work.py); without it no row is visible or writable. FORCE applies this to the table
owner too. Two reserved names, which no tenant has, may see the rows of all tenants in one table:

    lookup   reads `tenants`, `custom_hosts` and `applications`, to find a tenant by host name, API key, secret or client, and to
             list tenants for clean-up
    outbox   reads and updates `outbox`, to claim due messages of every tenant, and reads `outbox_queues`
"""

from alembic import op
from sqlalchemy import text

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


def exempt_lookup(table: str = "tenants") -> None:
    """Allow the lookup by host or key to read a table."""
    if is_postgres():
        op.execute(f"CREATE POLICY lookup ON {table} FOR SELECT USING ({NAMED} = '{LOOKUP}')")


def exempt_outbox_claim() -> None:
    """Allow the outbox worker to read and update rows of every tenant, but not to insert or delete."""
    if is_postgres():
        op.execute(f"CREATE POLICY claim_read ON outbox FOR SELECT USING ({NAMED} = '{OUTBOX}')")
        op.execute(
            f"CREATE POLICY claim_mark ON outbox FOR UPDATE USING ({NAMED} = '{OUTBOX}') WITH CHECK ({NAMED} = '{OUTBOX}')"
        )


def exempt_outbox_read(table: str) -> None:
    """Allow the outbox worker to read a table that says which messages it may claim."""
    if is_postgres():
        op.execute(f"CREATE POLICY claim_read ON {table} FOR SELECT USING ({NAMED} = '{OUTBOX}')")


def add_index(name: str, table: str, columns: list[str], rows: str | None = None) -> None:
    """Add an index to a table in use; PostgreSQL builds it concurrently, outside a transaction.

    Must be the last step of a migration, because earlier steps are committed first. Replaces the invalid index of an
    interrupted run.

    Args:
        rows: the condition of the rows in it, by default all.
    """
    where = text(rows) if rows else None
    if not is_postgres():
        op.create_index(name, table, columns, sqlite_where=where)
        return
    with op.get_context().autocommit_block():
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
        op.create_index(name, table, columns, postgresql_concurrently=True, postgresql_where=where)


def drop_index(name: str, table: str) -> None:
    """Remove an index from a table in use."""
    if not is_postgres():
        op.drop_index(name, table)
        return
    with op.get_context().autocommit_block():
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
