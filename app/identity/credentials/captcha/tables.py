"""Used challenges and provider responses, because each counts once."""

from sqlalchemy import Column, Index

from app.identity.platform.store.tables import Id, Instant, tenant_table

spent_captchas = tenant_table(
    "spent_captchas",
    Column("captcha_hash", Id, primary_key=True),
    Column("expires_at", Instant, nullable=False),
    Index("ix_spent_captchas_expiry", "tenant_id", "expires_at"),
)
