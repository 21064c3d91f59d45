"""Table of custom object records, each of one account."""

from sqlalchemy import Column, Index, String

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

custom_records = tenant_table(
    "custom_records",
    Column("record_id", Id, primary_key=True),
    Column("uid", Id, nullable=False),
    Column("object_name", String(100), nullable=False),  # as the tenant's settings.custom_objects has it
    Column("content", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    Index("ix_custom_records_uid", "tenant_id", "uid", "object_name", "created_at"),
)
