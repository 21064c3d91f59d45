"""The table that lists of accounts search, and their indexes.

The table is created empty, so that no row of `accounts` is rewritten or locked: the worker fills it (clean_up/search_completion.py).
Texts compare by code point (collation C) in both databases.
"""

from alembic import op
from sqlalchemy import Boolean, Column, String

from app.identity.platform.store.migrations.ddl import add_index, drop_index, is_postgres, protect
from app.identity.platform.store.tables import Id, Instant

revision = "0040"
down_revision = "0039"
oldest_code = "0013"
branch_labels = None
depends_on = None

_KEYS = {"created": "created_at", "email": "email_key", "name": "name_key", "last_name": "last_name_key"}
_IS_BLOCKED = "NOT is_active OR is_locked AND lock_type = 'Block'"
_NEVER = {True: "timestamptz '1970-01-01 00:00:00+00'", False: "'1970-01-01 00:00:00.000000'"}
_LAST_LOGIN = "(CASE WHEN last_login_at IS NULL THEN {never} ELSE last_login_at END)"
"""A key that sorts. PostgreSQL's index has the expression, which needs no column; row-level security admits a condition on it, because
its parts are leakproof. SQLite compares no pair with an expression by an index: there it is a column, which is computed when read.
"""


def upgrade() -> None:
    _create_table()
    drop_index("ix_accounts_leaving", "accounts")
    add_index("ix_accounts_leaving", "accounts", ["tenant_id", "leaves_at"], "leaves_at IS NOT NULL")
    add_index("ix_accounts_blocked", "accounts", ["tenant_id", "uid"], _IS_BLOCKED)
    last_login = _LAST_LOGIN.format(never=_NEVER[is_postgres()])
    if not is_postgres():
        op.execute(f"ALTER TABLE accounts ADD COLUMN last_login_key datetime GENERATED ALWAYS AS {last_login} VIRTUAL")
        last_login = "last_login_key"
    _add_expressions("ix_accounts_last_login", "accounts", f"tenant_id, {last_login}, uid")
    add_index("ix_account_roles_accounts", "account_roles", ["tenant_id", "role", "context", "uid"])
    add_index("ix_organization_user_roles_members", "organization_user_roles", ["tenant_id", "org_id", "uid"])
    drop_index("ix_account_roles_role", "account_roles")
    drop_index("ix_accounts_created", "accounts")
    if is_postgres():
        _add_expressions("ix_identifiers_prefix", "identifiers", 'tenant_id, kind, value COLLATE "C"')


def downgrade() -> None:
    if is_postgres():
        drop_index("ix_identifiers_prefix", "identifiers")
    add_index("ix_accounts_created", "accounts", ["tenant_id", "created_at"])
    add_index("ix_account_roles_role", "account_roles", ["tenant_id", "role"])
    drop_index("ix_organization_user_roles_members", "organization_user_roles")
    drop_index("ix_account_roles_accounts", "account_roles")
    drop_index("ix_accounts_last_login", "accounts")
    if not is_postgres():
        op.drop_column("accounts", "last_login_key")
    drop_index("ix_accounts_blocked", "accounts")
    drop_index("ix_accounts_leaving", "accounts")
    add_index("ix_accounts_leaving", "accounts", ["tenant_id", "leaves_at"])
    op.drop_table("account_search")


def _create_table() -> None:
    by_code_point = "C" if is_postgres() else None
    op.create_table(
        "account_search",
        Column("tenant_id", Id, primary_key=True),
        Column("uid", Id, primary_key=True),
        Column("created_at", Instant(), nullable=False),
        Column("email_key", String(320, by_code_point), nullable=False),
        Column("name_key", String(200, by_code_point), nullable=False),
        Column("last_name_key", String(200, by_code_point), nullable=False),
        Column("is_verified", Boolean, nullable=False),
        Column("changed_at", Instant()),
        if_not_exists=True,  # an interrupted run has committed it before its first index
    )
    for name, column in {**_KEYS, "verified": "is_verified"}.items():
        op.create_index(f"ix_account_search_{name}", "account_search", ["tenant_id", column, "uid"], if_not_exists=True)
    if not is_postgres() or not _is_protected():
        protect("account_search")


def _is_protected() -> bool:
    found = op.get_bind().exec_driver_sql("SELECT relrowsecurity FROM pg_class WHERE oid = 'account_search'::regclass")
    return bool(found.scalar())


def _add_expressions(name: str, table: str, columns: str) -> None:
    """Add an index of expressions, as `add_index` does."""
    if not is_postgres():
        op.execute(f"CREATE INDEX {name} ON {table} ({columns})")
        return
    with op.get_context().autocommit_block():
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {table} ({columns})")
