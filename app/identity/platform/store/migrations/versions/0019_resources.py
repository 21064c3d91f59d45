"""One table for the items of all resources that have no table of their own."""

from alembic import op
from sqlalchemy import Column, LargeBinary, String, UniqueConstraint

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0019"
down_revision = "0018"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "resources",
        Column("tenant_id", Id, primary_key=True),
        Column("kind", String(60), primary_key=True),
        Column("id", String(400), primary_key=True),
        Column("unique_key", String(64)),
        Column("content", Json, nullable=False),
        Column("sealed", LargeBinary),
        Column("origin", Json, nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("modified_at", Instant(), nullable=False),
        UniqueConstraint("tenant_id", "kind", "unique_key", name="uq_resources_tenant_id_kind_unique_key"),
    )
    protect("resources")


def downgrade() -> None:
    op.drop_table("resources")
