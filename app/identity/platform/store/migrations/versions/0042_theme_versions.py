"""Keep versions of themes, and when the next one of a tenant is to be published."""

from alembic import op
from sqlalchemy import Boolean, Column, Integer, String

from app.identity.platform.store.migrations.ddl import add_index, drop_index, protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0042"
down_revision = "0041"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "theme_versions",
        Column("tenant_id", Id, primary_key=True),
        Column("theme_id", Id, primary_key=True),
        Column("version", Integer, primary_key=True, autoincrement=False),
        Column("brand", Json, nullable=False),
        Column("note", String(300), nullable=False),
        Column("created_at", Instant, nullable=False),
        Column("created_by", String(128), nullable=False),
        Column("is_published", Boolean, nullable=False),
        Column("published_at", Instant),
        Column("publish_at", Instant),
    )
    protect("theme_versions")
    op.add_column("tenants", Column("next_theme_at", Instant()))
    add_index("ix_tenants_next_theme_at", "tenants", ["next_theme_at"])


def downgrade() -> None:
    drop_index("ix_tenants_next_theme_at", "tenants")
    op.drop_column("tenants", "next_theme_at")
    op.drop_table("theme_versions")
