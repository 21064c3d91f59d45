"""What Alembic runs: the revisions over the connection that `store/migrate.py` opened."""

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext

from app.identity.store.schema import metadata
from app.identity.store.tables import Free, Instant


def render(kind: str, item: Any, autogen: AutogenContext) -> str | Literal[False]:
    """Write our column types as they are spelt in `store/tables.py`."""
    if kind != "type":
        return False
    if isinstance(item, Instant):
        autogen.imports.add("from app.identity.store.tables import Free, Id, Instant")
        return "Instant()"
    if item is Free or (isinstance(item, type(Free)) and item._variant_mapping):
        return "Free"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_item=render,
    compare_type=True,
    transactional_ddl=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
