"""Access and refresh tokens; only digests lie here."""

from sqlalchemy import Column, Index, String

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

access_tokens = tenant_table(
    "access_tokens",
    Column("token_hash", Id, primary_key=True),
    Column("uid", Id),  # None: client_credentials
    Column("client_id", String(128)),  # None: a token of the interface's own login
    Column("session_id", Id),
    Column("family_id", Id),  # the refresh family that it came with
    Column("scope", String(1000), nullable=False, default=""),
    Column("facts", Json, nullable=False),  # audience, issuer, provider, remember_me, agent ...
    Column("issued_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_access_tokens_uid", "tenant_id", "uid"),
    Index("ix_access_tokens_family", "tenant_id", "family_id"),
    Index("ix_access_tokens_expiry", "tenant_id", "expires_at"),
)

refresh_tokens = tenant_table(
    "refresh_tokens",
    Column("token_hash", Id, primary_key=True),
    Column("family_id", Id, nullable=False),  # rotation keeps the family; reuse revokes it whole
    Column("uid", Id),
    Column("client_id", String(128)),
    Column("session_id", Id),
    Column("scope", String(1000), nullable=False, default=""),
    Column("facts", Json, nullable=False),
    Column("issued_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("used_at", Instant),
    Index("ix_refresh_tokens_family", "tenant_id", "family_id"),
    Index("ix_refresh_tokens_uid", "tenant_id", "uid"),
    Index("ix_refresh_tokens_expiry", "tenant_id", "expires_at"),
)
