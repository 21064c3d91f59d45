"""Invitation links for several people: count their uses, and remember who used one."""

from alembic import op
from sqlalchemy import Column, Integer

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant

revision = "0026"
down_revision = "0025"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("organization_invitations", Column("uses", Integer))
    op.add_column("organization_invitations", Column("max_uses", Integer))
    op.create_table(
        "organization_link_users",
        Column("tenant_id", Id, primary_key=True),
        Column("invitation_id", Id, primary_key=True),
        Column("uid", Id, primary_key=True),
        Column("org_id", Id, nullable=False),
        Column("created_at", Instant, nullable=False),
    )
    op.create_index("ix_organization_link_users_org", "organization_link_users", ["tenant_id", "org_id"])
    op.create_index("ix_organization_link_users_uid", "organization_link_users", ["tenant_id", "uid"])
    protect("organization_link_users")


def downgrade() -> None:
    op.drop_table("organization_link_users")
    op.drop_column("organization_invitations", "max_uses")
    op.drop_column("organization_invitations", "uses")
