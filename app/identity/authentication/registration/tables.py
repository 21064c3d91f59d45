"""The table of lists of choices in a registration form, such as schools by town."""

from sqlalchemy import Boolean, Column, Index, LargeBinary, String

from app.identity.platform.store.tables import Id, Instant, tenant_table

registration_data = tenant_table(
    "registration_data",
    Column("record_id", Id, primary_key=True),
    Column("type", String(100), nullable=False),  # in lower case
    Column("key", String(200), nullable=False),
    Column("value", String(1000), nullable=False),
    Column("parent_id", Id),
    Column("code", LargeBinary),  # sealed: what somebody must know to choose the record
    Column("is_active", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    Index("ix_registration_data_type", "tenant_id", "type", "created_at"),
)
