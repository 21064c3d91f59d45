"""Records of custom objects, each with an account."""

from alembic import op
from sqlalchemy import Column, Index, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0011"
down_revision = "0010"
oldest_code = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "custom_records",
        Column("tenant_id", Id, primary_key=True),
        Column("record_id", Id, primary_key=True),
        Column("uid", Id, nullable=False),
        Column("object_name", String(100), nullable=False),
        Column("content", Json, nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("modified_at", Instant(), nullable=False),
        Index("ix_custom_records_uid", "tenant_id", "uid", "object_name", "created_at"),
    )
    protect("custom_records")


def downgrade() -> None:
    op.drop_table("custom_records")
