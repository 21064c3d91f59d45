"""Registration: pending accounts, and the choices that a form offers."""

from alembic import op
from sqlalchemy import Boolean, Column, LargeBinary, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0005"
down_revision = "0004"
oldest_code = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "registration_data",
        Column("tenant_id", Id, primary_key=True),
        Column("record_id", Id, primary_key=True),
        Column("type", String(100), nullable=False),
        Column("key", String(200), nullable=False),
        Column("value", String(1000), nullable=False),
        Column("parent_id", Id),
        Column("code", LargeBinary),
        Column("is_active", Boolean, nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("modified_at", Instant(), nullable=False),
    )
    op.create_index("ix_registration_data_type", "registration_data", ["tenant_id", "type", "created_at"])
    op.create_table(
        "waiting_accounts",
        Column("tenant_id", Id, primary_key=True),
        Column("uid", Id, primary_key=True),
        Column("email", String(320), nullable=False),
        Column("held", Json, nullable=False),
        Column("expires_at", Instant(), nullable=False),
    )
    op.create_index("ix_waiting_accounts_expiry", "waiting_accounts", ["tenant_id", "expires_at"])
    protect("registration_data", "waiting_accounts")


def downgrade() -> None:
    op.drop_table("waiting_accounts")
    op.drop_table("registration_data")
