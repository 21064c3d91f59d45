"""Encrypted secrets of outside services, per tenant: push service, Duo."""

from alembic import op
from sqlalchemy import Column, LargeBinary

revision = "0013"
down_revision = "0012"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tenants", Column("service_secrets", LargeBinary))


def downgrade() -> None:
    op.drop_column("tenants", "service_secrets")
