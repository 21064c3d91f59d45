"""Templates of tenants for emails and text messages."""

from alembic import op
from sqlalchemy import Column, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0003"
down_revision = "0002"
oldest_code = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "letter_templates",
        Column("tenant_id", Id, primary_key=True),
        Column("channel", String(8), primary_key=True),
        Column("kind", String(40), primary_key=True),
        Column("name", String(100), primary_key=True),
        Column("content", Json, nullable=False),
        Column("modified_at", Instant(), nullable=False),
    )
    protect("letter_templates")


def downgrade() -> None:
    op.drop_table("letter_templates")
