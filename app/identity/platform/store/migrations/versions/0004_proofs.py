"""One-time tokens: links and codes that verify an address."""

from alembic import op
from sqlalchemy import Boolean, Column, Index, Integer, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0004"
down_revision = "0003"
oldest_code = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "proofs",
        Column("tenant_id", Id, primary_key=True),
        Column("proof_id", Id, primary_key=True),
        Column("kind", String(24), nullable=False),
        Column("is_code", Boolean, nullable=False),
        Column("uid", Id, nullable=False),
        Column("subject", String(320), nullable=False),
        Column("code_hash", Id),
        Column("facts", Json, nullable=False),
        Column("state", String(12), nullable=False),
        Column("tries", Integer, nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("expires_at", Instant(), nullable=False),
        Index("ix_proofs_subject", "tenant_id", "uid", "kind", "subject", "created_at"),
        Index("ix_proofs_expiry", "tenant_id", "expires_at"),
    )
    protect("proofs")


def downgrade() -> None:
    op.drop_table("proofs")
