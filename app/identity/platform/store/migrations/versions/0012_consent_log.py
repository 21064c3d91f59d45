"""How accounts answered the tenant's consent forms, over time."""

from alembic import op
from sqlalchemy import Column, Index

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0012"
down_revision = "0011"
oldest_code = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "consent_log",
        Column("tenant_id", Id, primary_key=True),
        Column("entry_id", Id, primary_key=True),
        Column("uid", Id, nullable=False),
        Column("at", Instant(), nullable=False),
        Column("entry", Json, nullable=False),
        Index("ix_consent_log_uid", "tenant_id", "uid", "at"),
    )
    protect("consent_log")


def downgrade() -> None:
    op.drop_table("consent_log")
