"""Which keys of a tenant's configuration the last file named; the others stay as operations set them."""

from alembic import op
from sqlalchemy import Column

from app.identity.platform.store.tables import Json

revision = "0017"
down_revision = "0016"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tenants", Column("named_by_file", Json))


def downgrade() -> None:
    op.drop_column("tenants", "named_by_file")
