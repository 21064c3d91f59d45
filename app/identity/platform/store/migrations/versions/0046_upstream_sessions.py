"""Remember the session of an organization's provider that began a session, so that its sign-out ends it."""

from alembic import op
from sqlalchemy import Column, String

from app.identity.platform.store.migrations.ddl import add_index, drop_index

revision = "0046"
down_revision = "0045"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", Column("upstream", String(120)))
    add_index("ix_sessions_upstream", "sessions", ["tenant_id", "upstream"])


def downgrade() -> None:
    drop_index("ix_sessions_upstream", "sessions")
    op.drop_column("sessions", "upstream")
