"""Tables of accounts: queried fields are columns, the free profile is one JSON document."""

from typing import Final

from sqlalchemy import Boolean, Column, Index, Integer, String, Text, text

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

IS_BLOCKED: Final = "NOT is_active OR is_locked AND lock_type = 'Block'"
"""As `Account.is_blocked`: a lock of this type does not end by itself."""

accounts = tenant_table(
    "accounts",
    Column("uid", Id, primary_key=True),
    Column("profile_id", Id, nullable=False),  # the interface's ID: the profile entry inside the account
    Column("password_hash", Text),
    Column("email", String(320)),  # the primary address as entered
    Column("username", String(64)),
    Column("phone", String(32)),
    Column("email_verified", Boolean, nullable=False, default=False),
    Column("phone_verified", Boolean, nullable=False, default=False),
    Column("is_active", Boolean, nullable=False, default=True),
    Column("is_deleted", Boolean, nullable=False, default=False),
    Column("login_disabled", Boolean, nullable=False, default=False),
    Column("failed_attempts", Integer, nullable=False, default=0),
    Column("lock_type", String(24), nullable=False, default="None"),
    Column("locked_until", Instant),
    Column("is_locked", Boolean, nullable=False, default=False),
    Column("logins", Integer, nullable=False, default=0),
    Column("session_limit", Integer, nullable=False, default=0),
    Column("roles", Json),  # never written: roles are rows of their own (decision 0187)
    # [{Type, Value, verified, pending}], ordered; a pending one does not identify the account
    Column("emails", Json, nullable=False),
    Column("profile", Json, nullable=False),  # free fields under the interface's names
    Column("private", Json, nullable=False),  # answers, PIN, policy: never part of a profile as such
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    Column("profile_modified_at", Instant),
    Column("last_login_at", Instant),
    Column("password_changed_at", Instant),
    Column("has_organizations", Boolean),  # set by the first membership: then a profile reads the organizations
    Column("leaves_at", Instant),  # the owner deleted it: is_deleted is set, and the row is removed at this time
    # A sign-in changes every index of this table, so that those of lists are in `account_search`.
    Index("ix_accounts_leaving", "tenant_id", "leaves_at", sqlite_where=text("leaves_at IS NOT NULL")),
    Index("ix_accounts_blocked", "tenant_id", "uid", sqlite_where=text(IS_BLOCKED)),
)

account_search = tenant_table(
    "account_search",  # what lists of accounts search and sort by: one row of each account (decision 0396)
    Column("uid", Id, primary_key=True),
    Column("created_at", Instant, nullable=False),
    Column("email_key", String(320), nullable=False),  # the primary address; empty without one
    Column("name_key", String(200), nullable=False),  # the first and last name
    Column("last_name_key", String(200), nullable=False),
    Column("is_verified", Boolean, nullable=False),  # the primary address or the phone number
    Column("changed_at", Instant),  # `profile_modified_at` of the account that this row was made of
    Index("ix_account_search_created", "tenant_id", "created_at", "uid"),
    Index("ix_account_search_email", "tenant_id", "email_key", "uid"),
    Index("ix_account_search_name", "tenant_id", "name_key", "uid"),
    Index("ix_account_search_last_name", "tenant_id", "last_name_key", "uid"),
    Index("ix_account_search_verified", "tenant_id", "is_verified", "uid"),
)

identifiers = tenant_table(
    "identifiers",
    # email, username, phone, identity, previous_uid, former_domain, profile (the interface's ID)
    Column("kind", String(16), primary_key=True),
    Column("value", String(320), primary_key=True),  # normalized
    Column("uid", Id, nullable=False),
    Column("is_verified", Boolean, nullable=False, default=False),
    Index("ix_identifiers_uid", "tenant_id", "uid"),
)

waiting_accounts = tenant_table(
    "waiting_accounts",  # pending accounts (decision 0052)
    Column("uid", Id, primary_key=True),
    Column("email", String(320), nullable=False),  # normalized
    Column("held", Json, nullable=False),  # the account's columns without timestamps
    Column("expires_at", Instant, nullable=False),
    Index("ix_waiting_accounts_expiry", "tenant_id", "expires_at"),
)

unknown_identifier_failures = tenant_table(
    "strangers",
    Column("name_hash", Id, primary_key=True),  # keyed digest of the normalized identifier, which is not stored
    Column("failures", Integer, nullable=False),
    Column("expires_at", Instant, nullable=False),  # then counting restarts
    Index("ix_strangers_expiry", "tenant_id", "expires_at"),
)
