"""A digest of a tenant's API secret, to find the tenant when a caller sends the secret alone."""

from alembic import op
from sqlalchemy import Column, String

revision = "0006"
down_revision = "0005"
oldest_code = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tenants", Column("api_secret_hash", String(64)))
    op.create_index("ix_tenants_api_secret_hash", "tenants", ["api_secret_hash"])


def downgrade() -> None:
    op.drop_index("ix_tenants_api_secret_hash", table_name="tenants")
    op.drop_column("tenants", "api_secret_hash")
