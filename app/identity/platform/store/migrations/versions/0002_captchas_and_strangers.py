"""Captchas that were used, and identifiers without an account that were tried."""

from alembic import op
from sqlalchemy import Column, Index, Integer, LargeBinary

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant

revision = "0002"
down_revision = "0001"
oldest_code = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "spent_captchas",
        Column("tenant_id", Id, primary_key=True),
        Column("captcha_hash", Id, primary_key=True),
        Column("expires_at", Instant(), nullable=False),
        Index("ix_spent_captchas_expiry", "tenant_id", "expires_at"),
    )
    op.create_table(
        "strangers",
        Column("tenant_id", Id, primary_key=True),
        Column("name_hash", Id, primary_key=True),
        Column("failures", Integer, nullable=False),
        Column("expires_at", Instant(), nullable=False),
        Index("ix_strangers_expiry", "tenant_id", "expires_at"),
    )
    op.add_column("tenants", Column("captcha_secret", LargeBinary))
    protect("spent_captchas", "strangers")


def downgrade() -> None:
    op.drop_column("tenants", "captcha_secret")
    op.drop_table("strangers")
    op.drop_table("spent_captchas")
