"""Tables of browser sessions and of interactions (one sign-in in one tab)."""

from sqlalchemy import Boolean, Column, Index, String

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

sessions = tenant_table(
    "sessions",
    Column("session_hash", Id, primary_key=True),  # digest of the cookie
    Column("session_id", Id, nullable=False),  # public id: lists and `sid`
    Column("uid", Id, nullable=False),
    Column("methods", Json, nullable=False),  # amr of RFC 8176, in the order passed
    Column("authenticated_at", Instant, nullable=False),  # auth_time
    Column("created_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),  # absolute
    Column("is_remembered", Boolean, nullable=False, default=False),
    Column("address", String(64)),
    Column("agent", String(400)),
    Column("relying_parties", Json, nullable=False),  # client ids that got a code in this session
    Column("client_id", String(128)),  # the application whose grant began it without a browser
    Column("issuers", Json),  # by client id: `iss` of the tokens that it got in this session
    Column("browser_state", String(64)),  # OpenID Connect Session Management 1.0 section 3.2
    Column("workflows", Json),  # SessionWorkflows; null where the session knows none
    Column(
        "upstream", String(120)
    ),  # the connection of an organization that began it, and a digest of its provider's `sid`
    Index("ix_sessions_uid", "tenant_id", "uid"),
    Index("ix_sessions_upstream", "tenant_id", "upstream"),
    Index("ix_sessions_expiry", "tenant_id", "expires_at"),
    Index("uq_sessions_id", "tenant_id", "session_id", unique=True),
)

interactions = tenant_table(
    "attempts",
    Column("attempt_hash", Id, key="interaction_hash", primary_key=True),
    Column("binding_hash", Id, nullable=False),  # digest of the browser's secret
    Column("kind", String(16), nullable=False),  # authorize or return
    Column("request", Json, nullable=False),
    Column("session_id", Id),  # the session that this interaction signed in
    Column("is_done", Boolean, nullable=False, default=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),  # the row; an unanswered interaction itself ends before
    Column("network", String(64)),  # of the browser that began it
    Index("ix_attempts_expiry", "tenant_id", "expires_at"),
    Index("ix_attempts_network", "tenant_id", "network", "created_at"),
)
