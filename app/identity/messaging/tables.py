"""The tenants' own templates of mails and text messages."""

from sqlalchemy import Column, String

from app.identity.platform.store.tables import Instant, Json, tenant_table

letter_templates = tenant_table(
    "letter_templates",
    Column("channel", String(8), primary_key=True),  # mail, sms
    Column("kind", String(40), primary_key=True),  # the interface's template type
    Column("name", String(100), primary_key=True),
    Column("content", Json, nullable=False),  # contract/messages.py: MailTemplate or SmsTemplate, without type and name
    Column("modified_at", Instant, nullable=False),
)
