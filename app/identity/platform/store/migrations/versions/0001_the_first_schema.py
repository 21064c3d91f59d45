"""The first schema."""

from alembic import op
from sqlalchemy import Boolean, Column, Index, Integer, LargeBinary, String, Text

from app.identity.platform.store.migrations.ddl import exempt_lookup, exempt_outbox_claim, protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0001"
down_revision = None
oldest_code = "0001"
branch_labels = None
depends_on = None

TABLES = (
    "tenants",
    "applications",
    "signing_keys",
    "accounts",
    "identifiers",
    "codes",
    "consents",
    "sessions",
    "attempts",
    "outbox",
    "audit",
    "access_tokens",
    "refresh_tokens",
)


def upgrade() -> None:
    _tenants()
    _accounts()
    _identifiers()
    _oauth()
    _sign_in()
    _tasks()
    _tokens()
    protect(*TABLES)
    exempt_lookup()
    exempt_outbox_claim()


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


def _tenants() -> None:
    op.create_table(
        "tenants",
        Column("tenant_id", Id, primary_key=True),
        Column("name", String(63), nullable=False, unique=True),
        Column("api_key", Id, nullable=False, unique=True),
        Column("api_secret", LargeBinary(), nullable=False),
        Column("version", Integer(), nullable=False),
        Column("settings", Json, nullable=False),
        Column("brand", Json, nullable=False),
        Column("is_active", Boolean(), nullable=False),
        Column("created_at", Instant(), nullable=False),
    )
    op.create_table(
        "applications",
        Column("tenant_id", Id, primary_key=True),
        Column("client_id", String(128), primary_key=True),
        Column("name", String(100), nullable=False),
        Column("secret_hash", Id),
        Column("settings", Json, nullable=False),
        Column("created_at", Instant(), nullable=False),
        Index("uq_applications_name", "tenant_id", "name", unique=True),
    )
    op.create_table(
        "signing_keys",
        Column("tenant_id", Id, primary_key=True),
        Column("kid", Id, primary_key=True),
        Column("algorithm", String(16), nullable=False),
        Column("public_jwk", Text(), nullable=False),
        Column("private_key", LargeBinary(), nullable=False),
        Column("published_at", Instant(), nullable=False),
        Column("active_at", Instant(), nullable=False),
        Column("retired_at", Instant()),
    )


def _accounts() -> None:
    op.create_table(
        "accounts",
        Column("tenant_id", Id, primary_key=True),
        Column("uid", Id, primary_key=True),
        Column("profile_id", Id, nullable=False),
        Column("password_hash", Text()),
        Column("email", String(320)),
        Column("username", Id),
        Column("phone", String(32)),
        Column("email_verified", Boolean(), nullable=False),
        Column("phone_verified", Boolean(), nullable=False),
        Column("is_active", Boolean(), nullable=False),
        Column("is_deleted", Boolean(), nullable=False),
        Column("login_disabled", Boolean(), nullable=False),
        Column("failed_attempts", Integer(), nullable=False),
        Column("lock_type", String(24), nullable=False),
        Column("locked_until", Instant()),
        Column("is_locked", Boolean(), nullable=False),
        Column("logins", Integer(), nullable=False),
        Column("session_limit", Integer(), nullable=False),
        Column("roles", Json),
        Column("emails", Json, nullable=False),
        Column("profile", Json, nullable=False),
        Column("private", Json, nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("modified_at", Instant(), nullable=False),
        Column("profile_modified_at", Instant()),
        Column("last_login_at", Instant()),
        Column("password_changed_at", Instant()),
        Index("ix_accounts_created", "tenant_id", "created_at"),
    )


def _identifiers() -> None:
    op.create_table(
        "identifiers",
        Column("tenant_id", Id, primary_key=True),
        Column("kind", String(16), primary_key=True),
        Column("value", String(320), primary_key=True),
        Column("uid", Id, nullable=False),
        Column("is_verified", Boolean(), nullable=False),
        Index("ix_identifiers_uid", "tenant_id", "uid"),
    )


def _oauth() -> None:
    op.create_table(
        "codes",
        Column("tenant_id", Id, primary_key=True),
        Column("code_hash", Id, primary_key=True),
        Column("client_id", String(128), nullable=False),
        Column("uid", Id, nullable=False),
        Column("session_id", Id),
        Column("family_id", Id, nullable=False),
        Column("request", Json, nullable=False),
        Column("issued_at", Instant(), nullable=False),
        Column("expires_at", Instant(), nullable=False),
        Column("used_at", Instant()),
        Index("ix_codes_expiry", "tenant_id", "expires_at"),
    )
    op.create_table(
        "consents",
        Column("tenant_id", Id, primary_key=True),
        Column("uid", Id, primary_key=True),
        Column("client_id", String(128), primary_key=True),
        Column("scopes", Json, nullable=False),
        Column("given_at", Instant(), nullable=False),
    )


def _sign_in() -> None:
    op.create_table(
        "sessions",
        Column("tenant_id", Id, primary_key=True),
        Column("session_hash", Id, primary_key=True),
        Column("session_id", Id, nullable=False),
        Column("uid", Id, nullable=False),
        Column("methods", Json, nullable=False),
        Column("authenticated_at", Instant(), nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("seen_at", Instant(), nullable=False),
        Column("expires_at", Instant(), nullable=False),
        Column("is_remembered", Boolean(), nullable=False),
        Column("address", Id),
        Column("agent", String(400)),
        Column("relying_parties", Json, nullable=False),
        Index("ix_sessions_expiry", "tenant_id", "expires_at"),
        Index("ix_sessions_uid", "tenant_id", "uid"),
        Index("uq_sessions_id", "tenant_id", "session_id", unique=True),
    )
    op.create_table(
        "attempts",
        Column("tenant_id", Id, primary_key=True),
        Column("attempt_hash", Id, primary_key=True),
        Column("binding_hash", Id, nullable=False),
        Column("kind", String(16), nullable=False),
        Column("request", Json, nullable=False),
        Column("session_id", Id),
        Column("is_done", Boolean(), nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("expires_at", Instant(), nullable=False),
        Index("ix_attempts_expiry", "tenant_id", "expires_at"),
    )


def _tasks() -> None:
    op.create_table(
        "outbox",
        Column("tenant_id", Id, primary_key=True),
        Column("message_id", Id, primary_key=True),
        Column("kind", String(32), nullable=False),
        Column("payload", Json, nullable=False),
        Column("state", String(12), nullable=False),
        Column("attempts", Integer(), nullable=False),
        Column("due_at", Instant(), nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("finished_at", Instant()),
        Column("last_problem", Text()),
        Index("ix_outbox_due", "state", "due_at"),
    )
    op.create_table(
        "audit",
        Column("tenant_id", Id, primary_key=True),
        Column("entry_id", Id, primary_key=True),
        Column("at", Instant(), nullable=False),
        Column("event", Id, nullable=False),
        Column("uid", Id),
        Column("client_id", String(128)),
        Column("address", Id),
        Column("facts", Json, nullable=False),
        Index("ix_audit_uid", "tenant_id", "uid", "at"),
    )


def _tokens() -> None:
    op.create_table(
        "access_tokens",
        Column("tenant_id", Id, primary_key=True),
        Column("token_hash", Id, primary_key=True),
        Column("uid", Id),
        Column("client_id", String(128)),
        Column("session_id", Id),
        Column("family_id", Id),
        Column("scope", String(1000), nullable=False),
        Column("facts", Json, nullable=False),
        Column("issued_at", Instant(), nullable=False),
        Column("expires_at", Instant(), nullable=False),
        Index("ix_access_tokens_expiry", "tenant_id", "expires_at"),
        Index("ix_access_tokens_family", "tenant_id", "family_id"),
        Index("ix_access_tokens_uid", "tenant_id", "uid"),
    )
    op.create_table(
        "refresh_tokens",
        Column("tenant_id", Id, primary_key=True),
        Column("token_hash", Id, primary_key=True),
        Column("family_id", Id, nullable=False),
        Column("uid", Id),
        Column("client_id", String(128)),
        Column("session_id", Id),
        Column("scope", String(1000), nullable=False),
        Column("facts", Json, nullable=False),
        Column("issued_at", Instant(), nullable=False),
        Column("expires_at", Instant(), nullable=False),
        Column("used_at", Instant()),
        Index("ix_refresh_tokens_expiry", "tenant_id", "expires_at"),
        Index("ix_refresh_tokens_family", "tenant_id", "family_id"),
        Index("ix_refresh_tokens_uid", "tenant_id", "uid"),
    )
