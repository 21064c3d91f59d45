"""Tables of organizations. Ids have the prefixes of the interface.

A unique key over a nullable column settles races: the column has a value only while the rule applies, for example the domain of
a verified claim.
"""

from sqlalchemy import Boolean, Column, Index, Integer, LargeBinary, String, Text, UniqueConstraint

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

organizations = tenant_table(
    "organizations",
    Column("org_id", Id, primary_key=True),
    Column("name", String(100), nullable=False),
    Column("name_key", String(400), nullable=False),  # normalized, for comparison
    Column("display", Json, nullable=False),
    Column("metadata", Json, nullable=False),
    Column("policies", Json, nullable=False),  # by the interface's names; the tenant's settings replace absent values
    Column("is_active", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    UniqueConstraint("tenant_id", "name_key", name="uq_organizations_name"),
    Index("ix_organizations_created", "tenant_id", "created_at", "org_id"),
)

organization_permissions = tenant_table(
    "organization_permissions",
    Column("permission_id", Id, primary_key=True),
    Column("name", String(100), nullable=False),
    Column("name_key", String(400), nullable=False),
    Column("original_name", String(100), nullable=False),
    Column("description", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    UniqueConstraint("tenant_id", "name_key", name="uq_organization_permissions_name"),
)

organization_roles = tenant_table(
    "organization_roles",
    Column("role_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),  # empty for a role of the tenant
    Column("name", String(100), nullable=False),
    Column("name_key", String(400), nullable=False),
    Column("original_name", String(100), nullable=False),
    Column("description", Text, nullable=False),
    Column("default_for", String(16)),  # "tenant" for the tenant's default role
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    UniqueConstraint("tenant_id", "org_id", "name_key", name="uq_organization_roles_name"),
    UniqueConstraint("tenant_id", "default_for", name="uq_organization_roles_default"),
)

organization_role_permissions = tenant_table(
    "organization_role_permissions",
    Column("role_id", Id, primary_key=True),
    Column("permission_id", Id, primary_key=True),
    Index("ix_organization_role_permissions_permission", "tenant_id", "permission_id"),
)

organization_user_roles = tenant_table(
    "organization_user_roles",
    Column("user_role_id", Id, primary_key=True),
    Column("uid", Id, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("role_id", Id, nullable=False),
    Column("connection_id", Id),  # the connection that granted the role, and may take it back
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("tenant_id", "uid", "org_id", "role_id", name="uq_organization_user_roles_role"),
    Index("ix_organization_user_roles_org", "tenant_id", "org_id", "created_at", "user_role_id"),
    Index("ix_organization_user_roles_members", "tenant_id", "org_id", "uid"),
    Index("ix_organization_user_roles_role", "tenant_id", "role_id"),
)

organization_domains = tenant_table(
    "organization_domains",
    Column("domain_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("domain", String(253), nullable=False),  # ASCII, in lower case
    Column(
        "verified_domain", String(253)
    ),  # the domain once it is verified: then it belongs to this organization alone
    Column("state", String(16), nullable=False),  # pending, verified or failed
    Column("strategy", String(16), nullable=False),  # dns_txt or manual
    Column("token", String(64), nullable=False),  # in the TXT record
    Column("created_at", Instant, nullable=False),
    Column("verified_at", Instant),
    Column("checked_at", Instant),  # of the last look-up
    Column("problem", String(32)),  # record_missing, record_lost, verified_elsewhere or contested
    Column("notified_at", Instant),  # of the last email to the owners of the organization
    UniqueConstraint("tenant_id", "org_id", "domain", name="uq_organization_domains_domain"),
    UniqueConstraint("tenant_id", "verified_domain", name="uq_organization_domains_verified"),
    Index("ix_organization_domains_domain", "tenant_id", "domain"),
)

organization_connections = tenant_table(
    "organization_connections",
    Column("connection_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("name", String(60), nullable=False),
    Column("name_key", String(60), nullable=False),
    Column("domain", String(253)),
    Column("kind", String(40), nullable=False),
    Column("address_key", String(64), nullable=False),  # the opaque part of its addresses
    Column("is_active", Boolean, nullable=False),
    Column("content", Json, nullable=False),
    Column("sealed", LargeBinary),  # its secrets, encrypted
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    Column("metadata_due_at", Instant),  # when the metadata of a SAML provider is read again
    UniqueConstraint("tenant_id", "org_id", "name_key", name="uq_organization_connections_name"),
    UniqueConstraint("tenant_id", "domain", name="uq_organization_connections_domain"),
    UniqueConstraint("tenant_id", "address_key", name="uq_organization_connections_address"),
    Index("ix_organization_connections_metadata", "tenant_id", "metadata_due_at"),
)

organization_group_roles = tenant_table(
    "organization_group_roles",
    Column("group_role_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("connection_id", Id, nullable=False),
    Column("group_id", String(200), nullable=False),
    Column("name", String(100), nullable=False),
    Column("name_key", String(400), nullable=False),
    Column("role_id", Id, nullable=False),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("tenant_id", "connection_id", "group_id", name="uq_organization_group_roles_group"),
    UniqueConstraint("tenant_id", "connection_id", "name_key", name="uq_organization_group_roles_name"),
    Index("ix_organization_group_roles_org", "tenant_id", "org_id"),
    Index("ix_organization_group_roles_role", "tenant_id", "role_id"),
)

organization_invitations = tenant_table(
    "organization_invitations",
    Column("invitation_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("token_hash", Id, nullable=False),
    Column("email", String(320)),  # as entered; absent: a shared invitation
    Column("email_key", String(320)),  # normalized
    Column("open_email", String(320)),  # email_key while the invitation is open: then there is one for it
    Column("role_ids", Json, nullable=False),
    Column("inviter_uid", Id, nullable=False),
    Column("status", String(16), nullable=False),  # invited, accepted, expired or revoked
    Column("facts", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    Column("ends_at", Instant, nullable=False),
    Column("resent_at", Instant),
    Column("uses", Integer),  # of a link: how many people joined by it
    Column("max_uses", Integer),  # absent: any number
    UniqueConstraint("tenant_id", "token_hash", name="uq_organization_invitations_token"),
    UniqueConstraint("tenant_id", "org_id", "open_email", name="uq_organization_invitations_open"),
    Index("ix_organization_invitations_created", "tenant_id", "org_id", "created_at", "invitation_id"),
    Index("ix_organization_invitations_email", "tenant_id", "email_key"),
)

organization_link_users = tenant_table(
    "organization_link_users",  # accounts that a link admits no more: they joined by it, or left the organization since
    Column("invitation_id", Id, primary_key=True),
    Column("uid", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),  # the end of the link, which admits no one from then on; absent: a row of 0026
    Index("ix_organization_link_users_expires", "tenant_id", "expires_at"),
    Index("ix_organization_link_users_org", "tenant_id", "org_id"),
    Index("ix_organization_link_users_uid", "tenant_id", "uid"),
)

organization_join_requests = tenant_table(
    "organization_join_requests",
    Column("join_request_id", Id, primary_key=True),
    Column("uid", Id, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("domain", String(253), nullable=False),
    Column("status", String(16), nullable=False),  # open, approved or declined
    Column("created_at", Instant, nullable=False),
    Column("decided_at", Instant),
    Column("decided_by", Id),
    UniqueConstraint("tenant_id", "org_id", "uid", name="uq_organization_join_requests_account"),
    Index("ix_organization_join_requests_account", "tenant_id", "uid"),
    Index("ix_organization_join_requests_created", "tenant_id", "org_id", "created_at"),
)

organization_last_used = tenant_table(
    "organization_last_used",
    Column("uid", Id, primary_key=True),
    Column("client_id", String(128), primary_key=True),
    Column("org_id", Id, nullable=False),
    Index("ix_organization_last_used_org", "tenant_id", "org_id"),
)

organization_setup_links = tenant_table(
    "organization_setup_links",
    Column("link_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("token_hash", Id, nullable=False),
    Column("status", String(16), nullable=False),  # open, revoked or completed
    Column("openings", Integer, nullable=False),
    Column("max_openings", Integer, nullable=False),
    Column("session_hours", Integer, nullable=False),
    Column("joins", Boolean, nullable=False),  # whether people who sign in first join the organization
    Column("address_key", String(64), nullable=False),  # the opaque part of the connection's addresses
    Column("connection_id", Id),  # the connection that was set up
    Column("draft", Json, nullable=False),
    Column("sealed", LargeBinary),  # the secrets of the draft, encrypted
    Column("created_at", Instant, nullable=False),
    Column("opened_at", Instant),  # the last time
    Column("ends_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),  # when the row is deleted
    UniqueConstraint("tenant_id", "token_hash", name="uq_organization_setup_links_token"),
    Index("ix_organization_setup_links_org", "tenant_id", "org_id", "created_at"),
    Index("ix_organization_setup_links_expires", "tenant_id", "expires_at"),
)

OF_ORGANIZATION = (
    organization_last_used,
    organization_user_roles,
    organization_roles,
    organization_group_roles,
    organization_connections,
    organization_domains,
    organization_invitations,
    organization_link_users,
    organization_join_requests,
    organization_setup_links,
)
"""The tables whose rows belong to one organization and are deleted with it."""
