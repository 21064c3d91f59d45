"""Changes of tables in use that take care of those who use them."""

from alembic import op

from app.identity.platform.store.migrations.isolation import is_postgres


def add_index(name: str, table: str, columns: list[str]) -> None:
    """Index a table that has rows, while it is written: PostgreSQL builds it beside its users, in no transaction.

    The last thing that a migration does: what came before is committed first. What a run that broke off left is removed.
    """
    if not is_postgres():
        op.create_index(name, table, columns)
        return
    with op.get_context().autocommit_block():
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
        op.create_index(name, table, columns, postgresql_concurrently=True)


def drop_index(name: str, table: str) -> None:
    """Remove an index of a table in use."""
    if not is_postgres():
        op.drop_index(name, table)
        return
    with op.get_context().autocommit_block():
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
