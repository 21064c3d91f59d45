"""Alembic's environment: runs the revisions on the connection that `store/migrate.py` opened."""

from collections.abc import Collection, Mapping
from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from alembic.runtime.migration import MigrationContext, MigrationInfo

from app.identity.platform.store.schema_state import store_oldest_code
from app.identity.platform.store.tables import Instant, Json, metadata


def render(kind: str, item: Any, autogen: AutogenContext) -> str | Literal[False]:
    """Render our column types as written in `store/tables.py`."""
    if kind != "type":
        return False
    if isinstance(item, Instant):
        autogen.imports.add("from app.identity.platform.store.tables import Id, Instant, Json")
        return "Instant()"
    if item is Json or (isinstance(item, type(Json)) and item._variant_mapping):
        return "Json"
    return False


def note(ctx: MigrationContext, step: MigrationInfo, heads: Collection[str], run_args: Mapping[str, Any]) -> None:  # noqa: ARG001 - Alembic's signature
    """Store the revision's `oldest_code` in the migration's transaction."""
    if heads and ctx.connection is not None:
        (head,) = heads
        store_oldest_code(ctx.connection, context.script.get_revision(head).module.oldest_code)


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_item=render,
    compare_type=True,
    transactional_ddl=True,
    transaction_per_migration=True,  # on SQLite the transaction around all of them wins
    on_version_apply=note,
)
with context.begin_transaction():
    context.run_migrations()
