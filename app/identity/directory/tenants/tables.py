"""Tables of tenants, their applications and signing keys."""

from sqlalchemy import Boolean, Column, Index, Integer, LargeBinary, String, Table, Text

from app.identity.platform.store.tables import Id, Instant, Json, metadata, tenant_table

tenants = Table(
    "tenants",
    metadata,
    Column("tenant_id", Id, primary_key=True),
    Column("name", String(63), nullable=False, unique=True),
    Column("api_key", String(64), nullable=False, unique=True),
    Column("api_secret", LargeBinary, nullable=False),  # encrypted, because signatures of webhooks and requests need it
    Column("api_secret_hash", String(64)),  # digest, to find the tenant by secret alone; not unique
    Column("captcha_secret", LargeBinary),  # encrypted, because the captcha provider needs it
    Column("service_secrets", LargeBinary),  # encrypted secrets of external services by name (tenant_secrets.py)
    Column("version", Integer, nullable=False, default=1),
    Column("settings", Json, nullable=False),
    Column("brand", Json, nullable=False),
    Column("named_by_file", Json),  # keys in the last configuration file (configuration/value_origins.py)
    Column("is_active", Boolean, nullable=False, default=True),
    Column("created_at", Instant, nullable=False),
    Column("next_theme_at", Instant),  # the first time that a version of a theme waits for, for the worker
    Index("ix_tenants_api_secret_hash", "api_secret_hash"),
    Index("ix_tenants_next_theme_at", "next_theme_at"),
)

custom_hosts = Table(  # verified custom domains: like `tenants`, looked up before the tenant is known
    "custom_hosts",
    metadata,
    Column("host", String(253), primary_key=True),
    Column("tenant_id", Id, nullable=False),
    Column("verified_at", Instant, nullable=False),
    Index("ix_custom_hosts_tenant_id", "tenant_id"),
)

applications = tenant_table(
    "applications",
    Column("client_id", String(128), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("secret_hash", String(64)),  # digest of a random secret
    Column("former_secret_hash", String(64)),  # accepted until `former_secret_until`
    Column("former_secret_until", Instant),
    Column(
        "sealed_secret", LargeBinary
    ),  # the secret itself, encrypted, of a client that signs with it (client_secrets.py)
    Column("former_sealed_secret", LargeBinary),
    Column("settings", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    # of applications that registered themselves: open, token or document; null for all others
    Column("registered_by", String(20)),
    Column("registered_from", String(64)),  # the network of an open registration
    Column("registered_under", String(60)),  # the application whose issuer it uses
    Column("registration_token_hash", String(64)),  # RFC 7592
    Column("logo_digest", String(64)),  # of its row in application_logos
    Column("refreshed_at", Instant),  # when its client-id document was read
    Column("expires_at", Instant),  # each use moves it
    Index("ix_applications_expiry", "tenant_id", "expires_at"),
    Index("uq_applications_name", "tenant_id", "name", unique=True),
    Index("ix_applications_client_id", "client_id"),
)

application_logos = tenant_table(  # copies, so that pages load nothing from applications that registered themselves
    "application_logos",
    Column("client_id", String(128), primary_key=True),
    Column("media_type", String(40), nullable=False),
    Column("content", LargeBinary, nullable=False),
)

signing_keys = tenant_table(
    "signing_keys",
    Column("kid", Id, primary_key=True),
    Column("algorithm", String(16), nullable=False),
    Column("public_jwk", Text, nullable=False),
    Column("private_key", LargeBinary, nullable=False),  # encrypted PEM
    Column("published_at", Instant, nullable=False),
    Column("active_at", Instant, nullable=False),  # when it starts to sign
    Column("retired_at", Instant),  # when it stops signing; published until its last token expires
)

subject_secrets = tenant_table(  # of pairwise identifiers (subject_secrets.py)
    "subject_secrets",
    Column("secret", LargeBinary, nullable=False),  # encrypted
    Column("created_at", Instant, nullable=False),
)
