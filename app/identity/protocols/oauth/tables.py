"""Authorization codes and consents."""

from sqlalchemy import Column, Index, String

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

codes = tenant_table(
    "codes",
    Column("code_hash", Id, primary_key=True),
    Column("client_id", String(128), nullable=False),
    Column("uid", Id, nullable=False),
    Column("session_id", Id),
    # of tokens; revoked when the code is used twice (RFC 6749 section 4.1.2)
    Column("family_id", Id, nullable=False),
    Column("request", Json, nullable=False),  # redirect_uri, scope, nonce, code_challenge, issuer, auth_time, amr ...
    Column("issued_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("used_at", Instant),
    Index("ix_codes_expiry", "tenant_id", "expires_at"),
)

consents = tenant_table(
    "consents",
    Column("uid", Id, primary_key=True),
    Column("client_id", String(128), primary_key=True),
    Column("scopes", Json, nullable=False),
    Column("refused", Json),  # optional scopes that the account left out
    Column("given_at", Instant, nullable=False),
)
