"""Let applications register themselves: who registered them, their tokens, and copies of their logos."""

from alembic import op
from sqlalchemy import Column, Integer, LargeBinary, String

from app.identity.platform.store.migrations.ddl import add_index, drop_index, protect
from app.identity.platform.store.tables import Id, Instant

revision = "0030"
down_revision = "0029"
oldest_code = "0013"
branch_labels = None
depends_on = None

_COLUMNS = (
    ("registered_by", String(20)),
    ("registered_from", String(64)),
    ("registered_under", String(60)),
    ("registration_token_hash", String(64)),
    ("logo_digest", String(64)),
    ("refreshed_at", Instant),
    ("expires_at", Instant),
)


def upgrade() -> None:
    for name, kind in _COLUMNS:
        op.add_column("applications", Column(name, kind))
    op.create_table(
        "initial_access_tokens",
        Column("tenant_id", Id, primary_key=True),
        Column("name", String(60), primary_key=True),
        Column("token_hash", String(64), nullable=False),
        Column("max_uses", Integer, nullable=False),
        Column("uses", Integer, nullable=False),
        Column("created_at", Instant, nullable=False),
        Column("expires_at", Instant, nullable=False),
    )
    op.create_index("ix_initial_access_tokens_hash", "initial_access_tokens", ["tenant_id", "token_hash"])
    op.create_index("ix_initial_access_tokens_expiry", "initial_access_tokens", ["tenant_id", "expires_at"])
    op.create_table(
        "application_logos",
        Column("tenant_id", Id, primary_key=True),
        Column("client_id", String(128), primary_key=True),
        Column("media_type", String(40), nullable=False),
        Column("content", LargeBinary, nullable=False),
    )
    protect("initial_access_tokens", "application_logos")
    add_index("ix_applications_expiry", "applications", ["tenant_id", "expires_at"])


def downgrade() -> None:
    drop_index("ix_applications_expiry", "applications")
    op.drop_table("application_logos")
    op.drop_table("initial_access_tokens")
    for name, _ in reversed(_COLUMNS):
        op.drop_column("applications", name)
