"""Keep the secret from which a tenant's pairwise identifiers derive."""

from alembic import op
from sqlalchemy import Column, LargeBinary

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant

revision = "0031"
down_revision = "0030"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "subject_secrets",
        Column("tenant_id", Id, primary_key=True),
        Column("secret", LargeBinary, nullable=False),
        Column("created_at", Instant, nullable=False),
    )
    protect("subject_secrets")


def downgrade() -> None:
    op.drop_table("subject_secrets")
