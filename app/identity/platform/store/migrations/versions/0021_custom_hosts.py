"""The verified custom domains of all tenants, by host name."""

from alembic import op
from sqlalchemy import Column, String

from app.identity.platform.store.migrations.ddl import exempt_lookup, protect
from app.identity.platform.store.tables import Id, Instant

revision = "0021"
down_revision = "0020"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "custom_hosts",
        Column("host", String(253), primary_key=True),
        Column("tenant_id", Id, nullable=False),
        Column("verified_at", Instant(), nullable=False),
    )
    op.create_index("ix_custom_hosts_tenant_id", "custom_hosts", ["tenant_id"])
    protect("custom_hosts")
    exempt_lookup("custom_hosts")


def downgrade() -> None:
    op.drop_table("custom_hosts")
