"""How accounts answered the tenant's consent forms, over time: entries are added and never changed."""

from sqlalchemy import Column, Index

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

consent_log = tenant_table(
    "consent_log",
    Column("entry_id", Id, primary_key=True),
    Column("uid", Id, nullable=False),
    Column("at", Instant, nullable=False),
    Column("entry", Json, nullable=False),  # as the interface shows it
    Index("ix_consent_log_uid", "tenant_id", "uid", "at"),
)
