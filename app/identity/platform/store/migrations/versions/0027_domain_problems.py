"""Say why a domain of an organization is not verified, and when its owners were notified."""

from alembic import op
from sqlalchemy import Column, String

from app.identity.platform.store.tables import Instant

revision = "0027"
down_revision = "0026"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("organization_domains", Column("problem", String(32)))
    op.add_column("organization_domains", Column("notified_at", Instant))


def downgrade() -> None:
    op.drop_column("organization_domains", "notified_at")
    op.drop_column("organization_domains", "problem")
