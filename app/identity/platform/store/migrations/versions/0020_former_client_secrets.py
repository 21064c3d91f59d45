"""The former secret of an application, which is accepted for a while after a rotation."""

from alembic import op
from sqlalchemy import Column, String

from app.identity.platform.store.tables import Instant

revision = "0020"
down_revision = "0019"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("applications", Column("former_secret_hash", String(64)))
    op.add_column("applications", Column("former_secret_until", Instant()))


def downgrade() -> None:
    op.drop_column("applications", "former_secret_until")
    op.drop_column("applications", "former_secret_hash")
