"""Organizations: their members, roles, permissions, domains, connections, invitations and requests to join.

The lookup may read `applications`, to find the tenant of a client id and secret.
"""

from alembic import op
from sqlalchemy import Boolean, Column, LargeBinary, String, Text, UniqueConstraint

from app.identity.platform.store.migrations.ddl import add_index, drop_index, exempt_lookup, is_postgres, protect
from app.identity.platform.store.tables import Id, Instant, Json

revision = "0023"
down_revision = "0022"
oldest_code = "0013"
branch_labels = None
depends_on = None

_TABLES = (
    "organizations",
    "organization_permissions",
    "organization_roles",
    "organization_role_permissions",
    "organization_user_roles",
    "organization_domains",
    "organization_connections",
    "organization_group_roles",
    "organization_invitations",
    "organization_join_requests",
)


def upgrade() -> None:
    _create_connections()
    _create_group_roles()
    _create_invitations()
    _create_join_requests()
    _create_role_permissions()
    _create_memberships()
    op.add_column("accounts", Column("has_organizations", Boolean()))
    protect(*_TABLES)
    exempt_lookup("applications")
    add_index("ix_applications_client_id", "applications", ["client_id"])


def _create_connections() -> None:
    op.create_table(
        "organization_connections",
        Column("tenant_id", Id, primary_key=True),
        Column("connection_id", Id, primary_key=True),
        Column("org_id", Id, nullable=False),
        Column("name", String(60), nullable=False),
        Column("name_key", String(60), nullable=False),
        Column("domain", String(253)),
        Column("kind", String(40), nullable=False),
        Column("address_key", Id, nullable=False),
        Column("is_active", Boolean(), nullable=False),
        Column("content", Json, nullable=False),
        Column("sealed", LargeBinary()),
        Column("created_at", Instant(), nullable=False),
        Column("modified_at", Instant(), nullable=False),
        UniqueConstraint("tenant_id", "address_key", name="uq_organization_connections_address"),
        UniqueConstraint("tenant_id", "domain", name="uq_organization_connections_domain"),
        UniqueConstraint("tenant_id", "org_id", "name_key", name="uq_organization_connections_name"),
    )
    op.create_table(
        "organization_domains",
        Column("tenant_id", Id, primary_key=True),
        Column("domain_id", Id, primary_key=True),
        Column("org_id", Id, nullable=False),
        Column("domain", String(253), nullable=False),
        Column("verified_domain", String(253)),
        Column("state", String(16), nullable=False),
        Column("strategy", String(16), nullable=False),
        Column("token", Id, nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("verified_at", Instant()),
        Column("checked_at", Instant()),
        UniqueConstraint("tenant_id", "org_id", "domain", name="uq_organization_domains_domain"),
        UniqueConstraint("tenant_id", "verified_domain", name="uq_organization_domains_verified"),
    )
    op.create_index("ix_organization_domains_domain", "organization_domains", ["tenant_id", "domain"])


def _create_group_roles() -> None:
    op.create_table(
        "organization_group_roles",
        Column("tenant_id", Id, primary_key=True),
        Column("group_role_id", Id, primary_key=True),
        Column("org_id", Id, nullable=False),
        Column("connection_id", Id, nullable=False),
        Column("group_id", String(200), nullable=False),
        Column("name", String(100), nullable=False),
        Column("name_key", String(400), nullable=False),
        Column("role_id", Id, nullable=False),
        Column("created_at", Instant(), nullable=False),
        UniqueConstraint("tenant_id", "connection_id", "group_id", name="uq_organization_group_roles_group"),
        UniqueConstraint("tenant_id", "connection_id", "name_key", name="uq_organization_group_roles_name"),
    )
    op.create_index("ix_organization_group_roles_org", "organization_group_roles", ["tenant_id", "org_id"])
    op.create_index("ix_organization_group_roles_role", "organization_group_roles", ["tenant_id", "role_id"])


def _create_invitations() -> None:
    op.create_table(
        "organization_invitations",
        Column("tenant_id", Id, primary_key=True),
        Column("invitation_id", Id, primary_key=True),
        Column("org_id", Id, nullable=False),
        Column("token_hash", Id, nullable=False),
        Column("email", String(320)),
        Column("email_key", String(320)),
        Column("open_email", String(320)),
        Column("role_ids", Json, nullable=False),
        Column("inviter_uid", Id, nullable=False),
        Column("status", String(16), nullable=False),
        Column("facts", Json, nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("modified_at", Instant(), nullable=False),
        Column("ends_at", Instant(), nullable=False),
        Column("resent_at", Instant()),
        UniqueConstraint("tenant_id", "org_id", "open_email", name="uq_organization_invitations_open"),
        UniqueConstraint("tenant_id", "token_hash", name="uq_organization_invitations_token"),
    )
    op.create_index(
        "ix_organization_invitations_created",
        "organization_invitations",
        ["tenant_id", "org_id", "created_at", "invitation_id"],
    )
    op.create_index("ix_organization_invitations_email", "organization_invitations", ["tenant_id", "email_key"])


def _create_join_requests() -> None:
    op.create_table(
        "organization_join_requests",
        Column("tenant_id", Id, primary_key=True),
        Column("join_request_id", Id, primary_key=True),
        Column("uid", Id, nullable=False),
        Column("org_id", Id, nullable=False),
        Column("domain", String(253), nullable=False),
        Column("status", String(16), nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("decided_at", Instant()),
        Column("decided_by", Id),
        UniqueConstraint("tenant_id", "org_id", "uid", name="uq_organization_join_requests_account"),
    )
    op.create_index("ix_organization_join_requests_account", "organization_join_requests", ["tenant_id", "uid"])
    op.create_index(
        "ix_organization_join_requests_created", "organization_join_requests", ["tenant_id", "org_id", "created_at"]
    )
    op.create_table(
        "organization_permissions",
        Column("tenant_id", Id, primary_key=True),
        Column("permission_id", Id, primary_key=True),
        Column("name", String(100), nullable=False),
        Column("name_key", String(400), nullable=False),
        Column("original_name", String(100), nullable=False),
        Column("description", Text(), nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("modified_at", Instant(), nullable=False),
        UniqueConstraint("tenant_id", "name_key", name="uq_organization_permissions_name"),
    )


def _create_role_permissions() -> None:
    op.create_table(
        "organization_role_permissions",
        Column("tenant_id", Id, primary_key=True),
        Column("role_id", Id, primary_key=True),
        Column("permission_id", Id, primary_key=True),
    )
    op.create_index(
        "ix_organization_role_permissions_permission", "organization_role_permissions", ["tenant_id", "permission_id"]
    )
    op.create_table(
        "organization_roles",
        Column("tenant_id", Id, primary_key=True),
        Column("role_id", Id, primary_key=True),
        Column("org_id", Id, nullable=False),
        Column("name", String(100), nullable=False),
        Column("name_key", String(400), nullable=False),
        Column("original_name", String(100), nullable=False),
        Column("description", Text(), nullable=False),
        Column("default_for", String(16)),
        Column("created_at", Instant(), nullable=False),
        Column("modified_at", Instant(), nullable=False),
        UniqueConstraint("tenant_id", "default_for", name="uq_organization_roles_default"),
        UniqueConstraint("tenant_id", "org_id", "name_key", name="uq_organization_roles_name"),
    )


def _create_memberships() -> None:
    op.create_table(
        "organization_user_roles",
        Column("tenant_id", Id, primary_key=True),
        Column("user_role_id", Id, primary_key=True),
        Column("uid", Id, nullable=False),
        Column("org_id", Id, nullable=False),
        Column("role_id", Id, nullable=False),
        Column("connection_id", Id),
        Column("created_at", Instant(), nullable=False),
        UniqueConstraint("tenant_id", "uid", "org_id", "role_id", name="uq_organization_user_roles_role"),
    )
    op.create_index(
        "ix_organization_user_roles_org",
        "organization_user_roles",
        ["tenant_id", "org_id", "created_at", "user_role_id"],
    )
    op.create_index("ix_organization_user_roles_role", "organization_user_roles", ["tenant_id", "role_id"])
    op.create_table(
        "organizations",
        Column("tenant_id", Id, primary_key=True),
        Column("org_id", Id, primary_key=True),
        Column("name", String(100), nullable=False),
        Column("name_key", String(400), nullable=False),
        Column("display", Json, nullable=False),
        Column("metadata", Json, nullable=False),
        Column("policies", Json, nullable=False),
        Column("is_active", Boolean(), nullable=False),
        Column("created_at", Instant(), nullable=False),
        Column("modified_at", Instant(), nullable=False),
        UniqueConstraint("tenant_id", "name_key", name="uq_organizations_name"),
    )
    op.create_index("ix_organizations_created", "organizations", ["tenant_id", "created_at", "org_id"])


def downgrade() -> None:
    drop_index("ix_applications_client_id", "applications")
    if is_postgres():
        op.execute("DROP POLICY lookup ON applications")
    op.drop_column("accounts", "has_organizations")
    for table in _TABLES:
        op.drop_table(table)
