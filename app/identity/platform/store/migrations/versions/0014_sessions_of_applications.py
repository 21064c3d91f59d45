"""Sessions that an application's grant begins without a browser name their client."""

from alembic import op
from sqlalchemy import Column, String

revision = "0014"
down_revision = "0013"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", Column("client_id", String(128)))


def downgrade() -> None:
    op.drop_column("sessions", "client_id")
