"""Audit rows name the request that wrote them, as logs and responses do."""

from alembic import op
from sqlalchemy import Column, String

revision = "0016"
down_revision = "0015"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("audit", Column("reference", String(64)))


def downgrade() -> None:
    op.drop_column("audit", "reference")
