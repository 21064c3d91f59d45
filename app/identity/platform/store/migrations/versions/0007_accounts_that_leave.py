"""Deleted accounts are kept until their grace period ends."""

from alembic import op
from sqlalchemy import Column

from app.identity.platform.store.tables import Instant

revision = "0007"
down_revision = "0006"
oldest_code = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("accounts", Column("leaves_at", Instant()))
    op.create_index("ix_accounts_leaving", "accounts", ["tenant_id", "leaves_at"])


def downgrade() -> None:
    op.drop_index("ix_accounts_leaving", table_name="accounts")
    op.drop_column("accounts", "leaves_at")
