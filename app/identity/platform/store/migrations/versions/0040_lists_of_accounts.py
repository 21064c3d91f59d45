"""Keys and indexes of lists of accounts.

The database computes the keys, so that they are right whichever version of the code writes an account. They are columns, because
PostgreSQL's row-level security admits no condition on an index of an expression whose functions are not leakproof, as `lower` is
not. They compare by code point (collation C) in both databases. On PostgreSQL, the new columns rewrite the table.
"""

from alembic import op

from app.identity.platform.store.migrations.ddl import add_index, drop_index, is_postgres

revision = "0040"
down_revision = "0039"
oldest_code = "0013"
branch_labels = None
depends_on = None

_NAME = "coalesce({first}, '') || ' ' || coalesce({last}, '')"
_KEYS = ("email_key", "name_key", "last_name_key", "last_login_key")
_SORTED = {
    "ix_accounts_created_uid": "created_at",
    "ix_accounts_email": "email_key",
    "ix_accounts_name": "name_key",
    "ix_accounts_last_name": "last_name_key",
    "ix_accounts_last_login": "last_login_key",
}
_PARTS = {
    "ix_accounts_blocked": "NOT is_active OR is_locked AND lock_type = 'Block'",
    "ix_accounts_verified": "email_verified OR phone_verified",
    "ix_accounts_unverified": "NOT email_verified AND NOT phone_verified",
}


def upgrade() -> None:
    add_keys()
    for name, column in _SORTED.items():
        add_index(name, "accounts", ["tenant_id", column, "uid"])
    for name, rows in _PARTS.items():
        add_index(name, "accounts", ["tenant_id", "uid"], rows)
    add_index("ix_account_roles_accounts", "account_roles", ["tenant_id", "role", "context", "uid"])
    add_index("ix_organization_user_roles_members", "organization_user_roles", ["tenant_id", "org_id", "uid"])
    drop_index("ix_account_roles_role", "account_roles")
    drop_index("ix_accounts_created", "accounts")
    if is_postgres():
        with op.get_context().autocommit_block():
            op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_identifiers_prefix")
            op.execute(
                'CREATE INDEX CONCURRENTLY ix_identifiers_prefix ON identifiers (tenant_id, kind, value COLLATE "C")'
            )


def downgrade() -> None:
    if is_postgres():
        drop_index("ix_identifiers_prefix", "identifiers")
    add_index("ix_account_roles_role", "account_roles", ["tenant_id", "role"])
    drop_index("ix_organization_user_roles_members", "organization_user_roles")
    drop_index("ix_account_roles_accounts", "account_roles")
    add_index("ix_accounts_created", "accounts", ["tenant_id", "created_at"])
    for name in (*_PARTS, *_SORTED):
        drop_index(name, "accounts")
    for key in _KEYS:
        op.drop_column("accounts", key)


def add_keys() -> None:
    """Add the columns; on PostgreSQL in one statement, which rewrites the table once."""
    if is_postgres():
        first, last, of_text, kind = "profile ->> 'FirstName'", "profile ->> 'LastName'", ' COLLATE "C"', "STORED"
        never, instant = "timestamptz '1970-01-01 00:00:00+00'", "timestamptz"
    else:
        first, last = (f"json_extract(profile, '$.{name}')" for name in ("FirstName", "LastName"))
        of_text, kind, never, instant = "", "VIRTUAL", "'1970-01-01 00:00:00.000000'", "datetime"
    both = _NAME.format(first=first, last=last)
    texts = {
        "email_key": "coalesce(email, '')",
        "name_key": f"substr(trim({both}), 1, 100)",
        "last_name_key": f"substr(trim(coalesce({last}, '')), 1, 100)",
    }
    columns = {name: f"varchar{of_text} GENERATED ALWAYS AS (lower(({made}){of_text}))" for name, made in texts.items()}
    columns["last_login_key"] = f"{instant} GENERATED ALWAYS AS (coalesce(last_login_at, {never}))"
    again = "IF NOT EXISTS " if is_postgres() else ""  # an interrupted run has committed them before its first index
    added = [f"ADD COLUMN {again}{name} {what} {kind}" for name, what in columns.items()]
    for statement in [", ".join(added)] if is_postgres() else added:
        op.execute(f"ALTER TABLE accounts {statement}")
