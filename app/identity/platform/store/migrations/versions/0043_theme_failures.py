"""Store which files of a theme failed on a page, so that each is recorded once."""

from alembic import op
from sqlalchemy import Column, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant

revision = "0043"
down_revision = "0042"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "theme_failures",
        Column("tenant_id", Id, primary_key=True),
        Column("digest", String(64), primary_key=True),
        Column("template", String(100), primary_key=True),
        Column("reason", String(200), nullable=False),
        Column("failed_at", Instant, nullable=False),
        Column("expires_at", Instant, nullable=False),
    )
    protect("theme_failures")


def downgrade() -> None:
    op.drop_table("theme_failures")
