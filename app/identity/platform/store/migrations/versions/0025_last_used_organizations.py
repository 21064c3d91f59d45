"""Remember the organization that an account last used with an application."""

from alembic import op
from sqlalchemy import Column, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id

revision = "0025"
down_revision = "0023"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "organization_last_used",
        Column("tenant_id", Id, primary_key=True),
        Column("uid", Id, primary_key=True),
        Column("client_id", String(128), primary_key=True),
        Column("org_id", Id, nullable=False),
    )
    op.create_index("ix_organization_last_used_org", "organization_last_used", ["tenant_id", "org_id"])
    protect("organization_last_used")


def downgrade() -> None:
    op.drop_table("organization_last_used")
