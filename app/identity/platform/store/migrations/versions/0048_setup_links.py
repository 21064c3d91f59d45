"""Store links by which administrators of organizations set up their connection, with what they entered."""

from alembic import op
from sqlalchemy import Boolean, Column, Index, Integer, LargeBinary, String, UniqueConstraint

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0048"
down_revision = "0047"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "organization_setup_links",
        Column("tenant_id", Id, primary_key=True),
        Column("link_id", Id, primary_key=True),
        Column("org_id", Id, nullable=False),
        Column("token_hash", Id, nullable=False),
        Column("status", String(16), nullable=False),
        Column("openings", Integer, nullable=False),
        Column("max_openings", Integer, nullable=False),
        Column("session_hours", Integer, nullable=False),
        Column("joins", Boolean, nullable=False),
        Column("address_key", String(64), nullable=False),
        Column("connection_id", Id),
        Column("draft", Json, nullable=False),
        Column("sealed", LargeBinary),
        Column("created_at", Instant, nullable=False),
        Column("opened_at", Instant),
        Column("ends_at", Instant, nullable=False),
        Column("expires_at", Instant, nullable=False),
        UniqueConstraint("tenant_id", "token_hash", name="uq_organization_setup_links_token"),
        Index("ix_organization_setup_links_org", "tenant_id", "org_id", "created_at"),
        Index("ix_organization_setup_links_expires", "tenant_id", "expires_at"),
    )
    protect("organization_setup_links")


def downgrade() -> None:
    op.drop_table("organization_setup_links")
