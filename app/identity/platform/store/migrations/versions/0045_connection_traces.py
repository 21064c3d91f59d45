"""Store for a week why answers of identity providers were refused."""

from alembic import op
from sqlalchemy import Column, Index, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant

revision = "0045"
down_revision = "0044"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "connection_traces",
        Column("tenant_id", Id, primary_key=True),
        Column("trace_id", Id, primary_key=True),
        Column("at", Instant, nullable=False),
        Column("reference", String(64), nullable=False),
        Column("connection", String(100), nullable=False),
        Column("org_id", Id),
        Column("failed_check", String(32), nullable=False),
        Column("expected", String(300), nullable=False),
        Column("received", String(300), nullable=False),
        Column("expires_at", Instant, nullable=False),
        Index("ix_connection_traces_reference", "tenant_id", "reference"),
        Index("ix_connection_traces_connection", "tenant_id", "connection", "trace_id"),
        Index("ix_connection_traces_expiry", "tenant_id", "expires_at"),
    )
    protect("connection_traces")


def downgrade() -> None:
    op.drop_table("connection_traces")
