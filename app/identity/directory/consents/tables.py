"""Table of the consent log; entries are added and never changed."""

from sqlalchemy import Column, Index

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

consent_log = tenant_table(
    "consent_log",
    Column("entry_id", Id, primary_key=True),
    Column("uid", Id, nullable=False),
    Column("at", Instant, nullable=False),
    Column("entry", Json, nullable=False),  # in the interface's form
    Index("ix_consent_log_uid", "tenant_id", "uid", "at"),
)
