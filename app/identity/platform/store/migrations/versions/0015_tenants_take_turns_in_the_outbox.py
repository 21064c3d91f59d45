"""An index that finds the oldest message of each tenant in the outbox, so that tenants take turns."""

from app.identity.platform.store.migrations.ddl import add_index, drop_index

revision = "0015"
down_revision = "0014"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_index("ix_outbox_turns", "outbox", ["state", "kind", "tenant_id", "due_at"])


def downgrade() -> None:
    drop_index("ix_outbox_turns", "outbox")
