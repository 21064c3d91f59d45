"""Remember the optional scopes that an account left out of its consent to an application."""

from alembic import op
from sqlalchemy import Column

from app.identity.platform.store.tables import Json

revision = "0033"
down_revision = "0032"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("consents", Column("refused", Json))


def downgrade() -> None:
    op.drop_column("consents", "refused")
