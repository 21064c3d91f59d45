"""Tables of the outbox and the audit log, both written in the transaction of the change."""

from sqlalchemy import Column, Index, Integer, LargeBinary, String, Text

from app.identity.platform.store.tables import Id, Instant, Json, tenant_table

outbox = tenant_table(
    "outbox",
    Column("message_id", Id, primary_key=True),
    Column("kind", String(32), nullable=False),  # mail, sms, webhook, backchannel_logout, push, nothing
    Column("payload", Json, nullable=False),  # empty since schema 0009
    Column("sealed", LargeBinary),  # the encrypted payload (outbox/queue.py); None once erased
    Column("state", String(12), nullable=False, default="waiting"),  # waiting, sent, dead
    Column("attempts", Integer, nullable=False, default=0),
    Column("due_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("finished_at", Instant),
    Column("last_problem", Text),
    Index("ix_outbox_due", "state", "due_at"),  # for workers of older versions
    Index("ix_outbox_turns", "state", "kind", "tenant_id", "due_at"),  # lets tenants take turns (outbox/claims.py)
)

audit = tenant_table(
    "audit",
    Column("entry_id", Id, primary_key=True),  # sorts by time
    Column("at", Instant, nullable=False),
    Column("event", String(64), nullable=False),
    Column("uid", Id),
    Column("client_id", String(128)),
    Column("address", String(64)),
    Column("reference", String(64)),  # the request id, as in logs and responses
    Column("facts", Json, nullable=False),
    Index("ix_audit_uid", "tenant_id", "uid", "at"),
)
