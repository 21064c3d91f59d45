"""What opaque texts stand for, as digests."""

from sqlalchemy import Column, Index, String

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

tickets = tenant_table(
    "tickets",
    Column("kind", String(24), primary_key=True),  # service.TicketKind
    Column("ticket_hash", Id, primary_key=True),
    Column("uid", Id, nullable=False),  # `nobody` where it is nobody's yet
    Column("facts", Json, nullable=False),
    Column("state", String(16), nullable=False),  # open, and what its area makes of it
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_tickets_uid", "tenant_id", "uid", "kind"),
    Index("ix_tickets_expiry", "tenant_id", "expires_at"),
)
