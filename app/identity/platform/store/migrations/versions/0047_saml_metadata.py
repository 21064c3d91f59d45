"""Read the metadata of SAML connections again when it is due."""

from alembic import op
from sqlalchemy import Column

from app.identity.platform.store.migrations.ddl import add_index, drop_index
from app.identity.platform.store.tables import Instant

revision = "0047"
down_revision = "0046"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("organization_connections", Column("metadata_due_at", Instant))
    add_index("ix_organization_connections_metadata", "organization_connections", ["tenant_id", "metadata_due_at"])


def downgrade() -> None:
    drop_index("ix_organization_connections_metadata", "organization_connections")
    op.drop_column("organization_connections", "metadata_due_at")
