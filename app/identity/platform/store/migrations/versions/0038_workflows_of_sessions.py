"""Remember how far sessions have come in workflows."""

from alembic import op
from sqlalchemy import Column

from app.identity.platform.store.tables import Json

revision = "0038"
down_revision = "0037"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", Column("workflows", Json))


def downgrade() -> None:
    op.drop_column("sessions", "workflows")
