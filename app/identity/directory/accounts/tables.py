"""Accounts: what is asked of every account in columns, the free profile as one document."""

from sqlalchemy import Boolean, Column, Index, Integer, String, Text

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

accounts = tenant_table(
    "accounts",
    Column("uid", Id, primary_key=True),
    Column("profile_id", Id, nullable=False),  # the interface's ID: the profile entry inside the account
    Column("password_hash", Text),
    Column("email", String(320)),  # as typed; the primary one
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
    Column("roles", Json),
    Column("emails", Json, nullable=False),  # [{Type, Value, verified, pending}], in order; a pending one names nobody
    Column("profile", Json, nullable=False),  # the interface's free fields, spelt as it spells them
    Column("private", Json, nullable=False),  # answers, PIN, policy: never part of a profile as such
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    Column("profile_modified_at", Instant),
    Column("last_login_at", Instant),
    Column("password_changed_at", Instant),
    Column("leaves_at", Instant),  # its owner deleted it: is_deleted stands, and from then on it is removed
    Index("ix_accounts_created", "tenant_id", "created_at"),
    Index("ix_accounts_leaving", "tenant_id", "leaves_at"),
)

identifiers = tenant_table(
    "identifiers",
    Column(
        "kind", String(16), primary_key=True
    ),  # email, username, phone, identity, previous_uid, profile (the interface's ID)
    Column("value", String(320), primary_key=True),  # normalized
    Column("uid", Id, nullable=False),
    Column("is_verified", Boolean, nullable=False, default=False),
    Index("ix_identifiers_uid", "tenant_id", "uid"),
)

waiting_accounts = tenant_table(
    "waiting_accounts",  # asked for an address that an unproved account holds: whoever proves it first gets it (decisions/0052)
    Column("uid", Id, primary_key=True),
    Column("email", String(320), nullable=False),  # normalized
    Column("held", Json, nullable=False),  # the columns of the account, but for its instants
    Column("expires_at", Instant, nullable=False),
    Index("ix_waiting_accounts_expiry", "tenant_id", "expires_at"),
)

strangers = tenant_table(
    "strangers",
    Column("name_hash", Id, primary_key=True),  # keyed digest of the normal form: who was looked for is not kept
    Column("failures", Integer, nullable=False),
    Column("expires_at", Instant, nullable=False),  # then it counts from one again
    Index("ix_strangers_expiry", "tenant_id", "expires_at"),
)
