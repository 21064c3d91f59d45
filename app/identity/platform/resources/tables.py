"""Items of all resources that have no table of their own."""

from sqlalchemy import Column, LargeBinary, String, UniqueConstraint

from app.identity.platform.store.tables import Instant, Json, tenant_table

resources = tenant_table(
    "resources",
    Column("kind", String(60), primary_key=True),  # app/contract: `kind` of the declaration
    Column("id", String(400), primary_key=True),  # parts of a composite id are percent-encoded, with / between
    Column("unique_key", String(64)),  # digest of the values that no two items of a kind may share
    Column("content", Json, nullable=False),
    Column("sealed", LargeBinary),  # the secrets, as sealed JSON
    Column("origin", Json, nullable=False),  # who stated it: `by` api or file, and the digests of what a file named
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    UniqueConstraint("tenant_id", "kind", "unique_key"),
)
