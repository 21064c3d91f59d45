"""What accounts enrolled: seeds and keys, numbers, codes on paper."""

from sqlalchemy import BigInteger, Boolean, Column, Index, LargeBinary, String

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

credentials = tenant_table(
    "credentials",
    Column("credential_id", Id, primary_key=True),  # 32 hex: its name in lists, never the WebAuthn id
    Column("uid", Id, nullable=False),
    Column("kind", String(24), nullable=False),  # contract.second_factors.FactorKind
    Column("lookup", Id),  # digest by which it is found: of a WebAuthn id, of a code on paper
    Column("sealed", LargeBinary),  # what must be read back: a seed
    Column("facts", Json, nullable=False),
    Column("is_enrolled", Boolean, nullable=False),  # proved once; before that it opens nothing
    Column("counter", BigInteger, nullable=False, default=0),  # the last time step, the last signature
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant),
    Index("ix_credentials_uid", "tenant_id", "uid", "kind"),
    Index("uq_credentials_lookup", "tenant_id", "kind", "lookup", unique=True),
)
