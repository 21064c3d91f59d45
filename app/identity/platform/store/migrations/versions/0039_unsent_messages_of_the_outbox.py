"""An index of the messages that were not delivered, so that the metrics count them without reading them."""

from app.identity.platform.store.migrations.ddl import add_index, drop_index

revision = "0039"
down_revision = "0038"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_index("ix_outbox_unsent", "outbox", ["state", "kind", "created_at", "tenant_id"], "state <> 'sent'")


def downgrade() -> None:
    drop_index("ix_outbox_unsent", "outbox")
