"""Store the pictures of accounts and the logos of organizations, as they are served."""

from alembic import op
from sqlalchemy import Column, LargeBinary, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant

revision = "0041"
down_revision = "0040"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pictures",
        Column("tenant_id", Id, primary_key=True),
        Column("name", String(40), primary_key=True),
        Column("uid", Id),
        Column("org_id", Id),
        Column("media_type", String(40), nullable=False),
        Column("content", LargeBinary, nullable=False),
        Column("created_at", Instant, nullable=False),
    )
    op.create_index("ix_pictures_account", "pictures", ["tenant_id", "uid"])
    op.create_index("ix_pictures_organization", "pictures", ["tenant_id", "org_id"])
    protect("pictures")


def downgrade() -> None:
    op.drop_table("pictures")
