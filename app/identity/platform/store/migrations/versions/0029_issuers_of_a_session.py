"""Remember which issuer each application of a session used, and the session's state for Session Management."""

from alembic import op
from sqlalchemy import Column, String

from app.identity.platform.store.tables import Json

revision = "0029"
down_revision = "0028"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", Column("issuers", Json))
    op.add_column("sessions", Column("browser_state", String(64)))


def downgrade() -> None:
    op.drop_column("sessions", "browser_state")
    op.drop_column("sessions", "issuers")
