"""Store the static files of themes by their content."""

from alembic import op
from sqlalchemy import Column, Integer, LargeBinary, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant

revision = "0044"
down_revision = "0043"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "theme_files",
        Column("tenant_id", Id, primary_key=True),
        Column("digest", String(32), primary_key=True),
        Column("media_type", String(40), nullable=False),
        Column("size_bytes", Integer, nullable=False),
        Column("content", LargeBinary, nullable=False),
        Column("stored_at", Instant, nullable=False),
    )
    protect("theme_files")


def downgrade() -> None:
    op.drop_table("theme_files")
