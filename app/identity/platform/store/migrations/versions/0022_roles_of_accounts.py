"""Roles, the roles of accounts, and role contexts."""

from alembic import op
from sqlalchemy import Column, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0022"
down_revision = "0021"
oldest_code = "0013"
branch_labels = None
depends_on = None

_TABLES = ("roles", "account_roles", "role_contexts")


def upgrade() -> None:
    op.create_table(
        "roles",
        Column("tenant_id", Id, primary_key=True),
        Column("name", String(64), primary_key=True),
        Column("skeleton", String(200), nullable=False),
        Column("permissions", Json, nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("modified_at", Instant(), nullable=False),
    )
    op.create_index("uq_roles_skeleton", "roles", ["tenant_id", "skeleton"], unique=True)
    op.create_table(
        "account_roles",
        Column("tenant_id", Id, primary_key=True),
        Column("uid", Id, primary_key=True),
        Column("context", String(64), primary_key=True),
        Column("role", String(64), primary_key=True),
    )
    op.create_index("ix_account_roles_role", "account_roles", ["tenant_id", "role"])
    op.create_table(
        "role_contexts",
        Column("tenant_id", Id, primary_key=True),
        Column("uid", Id, primary_key=True),
        Column("context", String(64), primary_key=True),
        Column("additional_permissions", Json, nullable=False),
        Column("ends_at", Instant()),
    )
    op.create_index("ix_role_contexts_context", "role_contexts", ["tenant_id", "context", "uid"])
    protect(*_TABLES)


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)
