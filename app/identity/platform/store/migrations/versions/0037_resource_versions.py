"""Keep the versions of resources' items that later ones replaced."""

from alembic import op
from sqlalchemy import Column, Integer, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0037"
down_revision = "0036"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "resource_versions",
        Column("tenant_id", Id, primary_key=True),
        Column("kind", String(60), primary_key=True),
        Column("id", String(400), primary_key=True),
        Column("version", Integer, primary_key=True, autoincrement=False),
        Column("content", Json, nullable=False),
        Column("written_at", Instant, nullable=False),
    )
    protect("resource_versions")


def downgrade() -> None:
    op.drop_table("resource_versions")
