"""One-time tokens: links and codes, stored as digests."""

from sqlalchemy import Boolean, Column, Index, Integer, String

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

one_time_tokens = tenant_table(
    "proofs",
    Column("proof_id", Id, primary_key=True),  # of a link: the digest of its text
    Column("kind", String(24), nullable=False),  # store.Purpose
    Column("is_code", Boolean, nullable=False),
    Column("uid", Id, nullable=False),
    Column("subject", String(320), nullable=False),  # the address or number that it proves
    Column("code_hash", Id),  # keyed, because six digits have too little entropy
    Column("facts", Json, nullable=False),
    Column("state", String(12), nullable=False),  # open, used, void, replaced
    Column("tries", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_proofs_subject", "tenant_id", "uid", "kind", "subject", "created_at"),
    Index("ix_proofs_address", "tenant_id", "subject", "kind"),
    Index("ix_proofs_expiry", "tenant_id", "expires_at"),
)
