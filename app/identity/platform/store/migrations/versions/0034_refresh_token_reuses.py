"""Count how often a replaced refresh token was used again."""

from alembic import op
from sqlalchemy import Column, Integer

revision = "0034"
down_revision = "0033"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("refresh_tokens", Column("reuses", Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("refresh_tokens", "reuses")
