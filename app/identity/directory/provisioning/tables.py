"""Tables of provisioning. An empty `org_id` is the whole tenant."""

from sqlalchemy import Boolean, Column, Index, Integer, String, UniqueConstraint

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

scim_connections = tenant_table(
    "scim_connections",
    Column("connection_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("name", String(100), nullable=False),
    Column("is_paused", Boolean, nullable=False),
    Column("is_dry_run", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    Index("ix_scim_connections_org", "tenant_id", "org_id", "created_at"),
)

scim_tokens = tenant_table(
    "scim_tokens",
    Column("token_id", Id, primary_key=True),
    Column("connection_id", Id, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("token_hash", Id, nullable=False),
    Column("scopes", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant),
    Column("expires_at", Instant),  # absent: never
    UniqueConstraint("tenant_id", "token_hash", name="uq_scim_tokens_token"),
    Index("ix_scim_tokens_connection", "tenant_id", "connection_id"),
    Index("ix_scim_tokens_org", "tenant_id", "org_id"),
    Index("ix_scim_tokens_expires", "tenant_id", "expires_at"),
)

scim_users = tenant_table(
    "scim_users",  # what an identity provider wrote about an account
    Column("org_id", Id, primary_key=True),
    Column("uid", Id, primary_key=True),
    Column("state", String(16), nullable=False),  # active, inactive or deleted
    Column(
        "named", String(400)
    ),  # the normalized userName; absent once it is deleted, so that another person may have it
    Column("external_id", String(400)),
    Column("content", Json, nullable=False),  # the attributes as written
    Column("role_ids", Json, nullable=False),  # those that a deactivation took, for a reactivation
    Column("is_created", Boolean, nullable=False),  # the account exists because of this
    Column("is_blocked", Boolean, nullable=False),  # a deactivation blocked the account
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    UniqueConstraint("tenant_id", "org_id", "named", name="uq_scim_users_named"),
    Index("ix_scim_users_external", "tenant_id", "org_id", "external_id"),
    Index("ix_scim_users_uid", "tenant_id", "uid"),
)

scim_groups = tenant_table(
    "scim_groups",  # what an identity provider wrote about a role
    Column("org_id", Id, primary_key=True),
    Column("group_id", String(128), primary_key=True),
    Column("display_name", String(400)),  # where the role keeps a name of its own
    Column("external_id", String(400)),
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
)

scim_requests = tenant_table(
    "scim_requests",
    Column("connection_id", Id, primary_key=True),
    Column("request_id", Id, primary_key=True),  # sorts by time
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

OF_ORGANIZATION = (scim_connections, scim_tokens, scim_users, scim_groups, scim_requests)
"""Their rows are deleted with their organization."""
