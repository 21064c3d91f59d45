"""Remember until a link's end who used it; rows of earlier code have no end, and stay until their organization is deleted."""

from alembic import op
from sqlalchemy import Column

from app.identity.platform.store.migrations.ddl import add_index
from app.identity.platform.store.tables import Instant

revision = "0028"
down_revision = "0027"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("organization_link_users", Column("expires_at", Instant))
    add_index("ix_organization_link_users_expires", "organization_link_users", ["tenant_id", "expires_at"])


def downgrade() -> None:
    op.drop_index("ix_organization_link_users_expires", "organization_link_users")
    op.drop_column("organization_link_users", "expires_at")
