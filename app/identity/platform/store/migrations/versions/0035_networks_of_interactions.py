"""Remember the network that began an interaction, so that no network holds too many."""

from alembic import op
from sqlalchemy import Column, String

from app.identity.platform.store.migrations.ddl import add_index

revision = "0035"
down_revision = "0034"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attempts", Column("network", String(64)))
    add_index("ix_attempts_network", "attempts", ["tenant_id", "network", "created_at"])


def downgrade() -> None:
    op.drop_index("ix_attempts_network", "attempts")
    op.drop_column("attempts", "network")
