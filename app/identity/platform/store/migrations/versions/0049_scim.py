"""Store SCIM connections with their tokens, what they provision, and their last requests."""

from alembic import op
from sqlalchemy import Boolean, Column, Index, Integer, String, UniqueConstraint

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0049"
down_revision = "0048"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_connections()
    _create_tokens()
    _create_people()
    _create_groups()
    _create_requests()


def downgrade() -> None:
    op.drop_table("scim_requests")
    op.drop_table("scim_groups")
    op.drop_table("scim_users")
    op.drop_table("scim_tokens")
    op.drop_table("scim_connections")


def _create_connections() -> None:
    op.create_table(
        "scim_connections",
        Column("tenant_id", Id, primary_key=True),
        Column("connection_id", Id, primary_key=True),
        Column("org_id", Id, nullable=False),
        Column("name", String(100), nullable=False),
        Column("is_paused", Boolean, nullable=False),
        Column("is_dry_run", Boolean, nullable=False),
        Column("created_at", Instant, nullable=False),
        Column("modified_at", Instant, nullable=False),
        Index("ix_scim_connections_org", "tenant_id", "org_id", "created_at"),
    )
    protect("scim_connections")


def _create_tokens() -> None:
    op.create_table(
        "scim_tokens",
        Column("tenant_id", Id, primary_key=True),
        Column("token_id", Id, primary_key=True),
        Column("connection_id", Id, nullable=False),
        Column("org_id", Id, nullable=False),
        Column("token_hash", Id, nullable=False),
        Column("scopes", Json, nullable=False),
        Column("created_at", Instant, nullable=False),
        Column("used_at", Instant),
        Column("expires_at", Instant),
        UniqueConstraint("tenant_id", "token_hash", name="uq_scim_tokens_token"),
        Index("ix_scim_tokens_connection", "tenant_id", "connection_id"),
        Index("ix_scim_tokens_org", "tenant_id", "org_id"),
        Index("ix_scim_tokens_expires", "tenant_id", "expires_at"),
    )
    protect("scim_tokens")


def _create_people() -> None:
    op.create_table(
        "scim_users",
        Column("tenant_id", Id, primary_key=True),
        Column("org_id", Id, primary_key=True),
        Column("uid", Id, primary_key=True),
        Column("state", String(16), nullable=False),
        Column("named", String(400)),
        Column("external_id", String(400)),
        Column("content", Json, nullable=False),
        Column("role_ids", Json, nullable=False),
        Column("is_created", Boolean, nullable=False),
        Column("is_blocked", Boolean, nullable=False),
        Column("created_at", Instant, nullable=False),
        Column("modified_at", Instant, nullable=False),
        UniqueConstraint("tenant_id", "org_id", "named", name="uq_scim_users_named"),
        Index("ix_scim_users_external", "tenant_id", "org_id", "external_id"),
        Index("ix_scim_users_uid", "tenant_id", "uid"),
    )
    protect("scim_users")


def _create_groups() -> None:
    op.create_table(
        "scim_groups",
        Column("tenant_id", Id, primary_key=True),
        Column("org_id", Id, primary_key=True),
        Column("group_id", String(128), primary_key=True),
        Column("display_name", String(400)),
        Column("external_id", String(400)),
        Column("created_at", Instant, nullable=False),
        Column("modified_at", Instant, nullable=False),
    )
    protect("scim_groups")


def _create_requests() -> None:
    op.create_table(
        "scim_requests",
        Column("tenant_id", Id, primary_key=True),
        Column("connection_id", Id, primary_key=True),
        Column("request_id", Id, primary_key=True),
        Column("org_id", Id, nullable=False),
        Column("at", Instant, nullable=False),
        Column("method", String(8), nullable=False),
        Column("path", String(400), nullable=False),
        Column("status", Integer, nullable=False),
        Column("detail", String(1000), nullable=False),
        Column("is_dry_run", Boolean, nullable=False),
        Column("changes", Json, nullable=False),
        Column("expires_at", Instant, nullable=False),
        Index("ix_scim_requests_org", "tenant_id", "org_id"),
        Index("ix_scim_requests_expires", "tenant_id", "expires_at"),
    )
    protect("scim_requests")
