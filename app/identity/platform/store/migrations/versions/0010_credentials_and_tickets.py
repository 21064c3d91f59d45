"""Credentials that accounts enrol, and continuation tokens."""

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Index, LargeBinary, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0010"
down_revision = "0009"
oldest_code = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "credentials",
        Column("tenant_id", Id, primary_key=True),
        Column("credential_id", Id, primary_key=True),
        Column("uid", Id, nullable=False),
        Column("kind", String(24), nullable=False),
        Column("lookup", Id),
        Column("sealed", LargeBinary),
        Column("facts", Json, nullable=False),
        Column("is_enrolled", Boolean, nullable=False),
        Column("counter", BigInteger, nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("used_at", Instant()),
        Index("ix_credentials_uid", "tenant_id", "uid", "kind"),
        Index("uq_credentials_lookup", "tenant_id", "kind", "lookup", unique=True),
    )
    protect("credentials")
    op.create_table(
        "tickets",
        Column("tenant_id", Id, primary_key=True),
        Column("kind", String(24), primary_key=True),
        Column("ticket_hash", Id, primary_key=True),
        Column("uid", Id, nullable=False),
        Column("facts", Json, nullable=False),
        Column("state", String(16), nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("expires_at", Instant(), nullable=False),
        Index("ix_tickets_uid", "tenant_id", "uid", "kind"),
        Index("ix_tickets_expiry", "tenant_id", "expires_at"),
    )
    protect("tickets")


def downgrade() -> None:
    op.drop_table("tickets")
    op.drop_table("credentials")
