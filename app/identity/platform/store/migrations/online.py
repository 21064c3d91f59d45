"""Index changes that do not block the users of a table."""

from alembic import op

from app.identity.platform.store.migrations.isolation import is_postgres


def add_index(name: str, table: str, columns: list[str]) -> None:
    """Add an index to a table in use; PostgreSQL builds it concurrently, outside a transaction.

    Must be the last step of a migration, because earlier steps are committed first. Replaces the invalid index of an
    interrupted run.
    """
    if not is_postgres():
        op.create_index(name, table, columns)
        return
    with op.get_context().autocommit_block():
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
        op.create_index(name, table, columns, postgresql_concurrently=True)


def drop_index(name: str, table: str) -> None:
    """Remove an index from a table in use."""
    if not is_postgres():
        op.drop_index(name, table)
        return
    with op.get_context().autocommit_block():
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
