"""Queues of the outbox: one for each receiver, paused while it fails, in order, with a log of deliveries."""

from alembic import op
from sqlalchemy import Boolean, Column, Integer, LargeBinary, String, false

from app.identity.platform.store.migrations.ddl import add_index, drop_index, exempt_outbox_read, protect
from app.identity.platform.store.tables import Id, Instant

revision = "0036"
down_revision = "0035"
oldest_code = "0013"
branch_labels = None
depends_on = None

INDEXES = {
    "ix_outbox_lanes": (["state", "kind", "tenant_id", "due_at"], "state = 'waiting' AND queue IS NULL"),
    "ix_outbox_queues": (["kind", "tenant_id", "queue", "due_at"], "state = 'waiting' AND queue IS NOT NULL"),
    "ix_outbox_order": (
        ["tenant_id", "order_key", "queue", "state", "created_at", "message_id"],
        "order_key IS NOT NULL",
    ),
    "ix_outbox_log": (["tenant_id", "queue", "state", "created_at", "message_id"], "queue IS NOT NULL"),
    "ix_outbox_ages": (["tenant_id", "state", "created_at"], "queue IS NOT NULL"),
    "ix_outbox_finished": (["tenant_id", "finished_at"], "finished_at IS NOT NULL AND queue IS NULL"),
}


def upgrade() -> None:
    for column in (
        Column("queue", Id),
        Column("order_key", Id),
        Column("event", String(40)),
        Column("status_code", Integer),
        Column("sealed_answer", LargeBinary),
        Column("replayed_at", Instant),
        Column("erase_when_done", Boolean),
    ):
        op.add_column("outbox", column)
    op.create_table(
        "outbox_queues",
        Column("tenant_id", Id, primary_key=True),
        Column("queue", Id, primary_key=True),
        Column("failures", Integer, nullable=False, server_default="0"),
        Column("failing_since", Instant),
        Column("paused_until", Instant),
        Column("is_full", Boolean, nullable=False, server_default=false()),
    )
    protect("outbox_queues")
    exempt_outbox_read("outbox_queues")
    # SQLite took it for every claim, and would read all messages that wait in queues; workers since 0015 need it no more
    drop_index("ix_outbox_due", "outbox")
    for name, (columns, rows) in INDEXES.items():
        add_index(name, "outbox", columns, rows)


def downgrade() -> None:
    for name in INDEXES:
        drop_index(name, "outbox")
    op.drop_table("outbox_queues")
    for name in ("erase_when_done", "replayed_at", "sealed_answer", "status_code", "event", "order_key", "queue"):
        op.drop_column("outbox", name)
    add_index("ix_outbox_due", "outbox", ["state", "due_at"])
