"""Credentials of accounts: TOTP seeds, passkeys, phone numbers, backup codes."""

from sqlalchemy import BigInteger, Boolean, Column, Index, LargeBinary, String

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

credentials = tenant_table(
    "credentials",
    Column("credential_id", Id, primary_key=True),  # 32 hex: the id in lists, never the WebAuthn id
    Column("uid", Id, nullable=False),
    Column("kind", String(24), nullable=False),  # contract.second_factors.FactorKind
    Column("lookup", Id),  # digest of a WebAuthn id or a backup code, to find the row
    Column("sealed", LargeBinary),  # an encrypted secret that must be read back, such as a seed
    Column("facts", Json, nullable=False),
    Column("is_enrolled", Boolean, nullable=False),  # verified once; pending before
    Column("counter", BigInteger, nullable=False, default=0),  # the last TOTP time step or signature counter
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant),
    Index("ix_credentials_uid", "tenant_id", "uid", "kind"),
    Index("uq_credentials_lookup", "tenant_id", "kind", "lookup", unique=True),
)
