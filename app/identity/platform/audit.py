"""The audit log of one request.

Entries of a successful request are written in its transaction; entries of a rejected one after the rollback, in their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Index, String, select

from app.identity.platform.store.compiled_statements import insert_row
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.clock import Clock
from app.kit.observability.logs import bind

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

_ADD = insert_row(audit, is_deferred=True)
_REASON = re.compile(r"[A-Za-z][A-Za-z _]{0,39}", re.ASCII)


def time_ordered_id(at: datetime) -> str:
    """Return an id that sorts by time: twelve digits of milliseconds, by which entries expire, three of microseconds, and chance."""
    return f"{_first_id(at)}{randomness.token(9)}"


@dataclass(frozen=True)
class AuditEntry:
    """An audit entry of an account."""

    at: datetime
    event: str
    client_id: str | None
    address: str | None
    facts: dict[str, Any]


@dataclass(frozen=True)
class TenantEntry(AuditEntry):
    """An audit entry of a tenant: of an account, or of none."""

    uid: str | None
    reference: str | None
    """The id of the request, as in its log line and on its error page."""


class AuditLog:
    """Collects entries until the request ends."""

    def __init__(self, clock: Clock, address: str = "", reference: str = "") -> None:
        self._clock = clock
        self._common = {"address": address[:64], "reference": reference[:64] or None}
        self._entries: list[dict[str, Any]] = []
        self.actor: str | None = None
        """Who acts for the account of this request; added to every entry."""

    def record(self, event: str, *, uid: str | None = None, client_id: str | None = None, **facts: Any) -> None:
        """Add an entry. Facts contain ids and codes, never passwords, tokens or whole bodies."""
        now = self._clock.now()
        self._entries.append(
            {
                "entry_id": time_ordered_id(now),
                "at": now,
                "event": event,
                "uid": uid,
                "client_id": client_id,
                "facts": facts,
            }
        )

    def position(self) -> int:
        """Return how many entries there are, for `drop_since`."""
        return len(self._entries)

    def drop_since(self, position: int) -> None:
        """Drop the entries after a position, after a rollback from which the request continues."""
        del self._entries[position:]

    def has(self, event: str, uid: str) -> bool:
        """Return whether the request recorded this event of the account and has not written it yet."""
        return any(entry["event"] == event and entry["uid"] == uid for entry in self._entries)

    def write(self, work: UnitOfWork) -> None:
        """Write the collected entries into the unit of work."""
        entries, self._entries = self._entries, []
        if entries:
            _bind_refusal(entries)
            rows = [{**entry, "tenant_id": work.tenant_id, **self._common} for entry in entries]
            if self.actor is not None:
                rows = [{**row, "facts": {**row["facts"], "act": self.actor}} for row in rows]
            work.run(_ADD, rows if len(rows) > 1 else rows[0])

    @property
    def is_empty(self) -> bool:
        return not self._entries


def _bind_refusal(entries: list[dict[str, Any]]) -> None:
    """Add the last refusal and its reason to the log line of the request: names in our code, never personal data."""
    for entry in reversed(entries):
        if entry["event"].endswith(".refused"):
            reason = str(entry["facts"].get("reason", ""))
            bind(refused=entry["event"], **({"reason": reason} if _REASON.fullmatch(reason) else {}))
            return


def latest(work: UnitOfWork, limit: int, *, uid: str | None = None, reference: str | None = None) -> list[TenantEntry]:
    """Return the latest entries of the tenant, of one account or of one request, newest first."""
    columns = [audit.c[name] for name in TenantEntry.__dataclass_fields__]
    query = select(*columns).where(audit.c.tenant_id == work.tenant_id)
    if uid is not None:
        query = query.where(audit.c.uid == uid)
    if reference is not None:
        query = query.where(audit.c.reference == reference)
    rows = work.all(query.order_by(audit.c.entry_id.desc()).limit(limit))
    return [TenantEntry(**row._mapping) for row in rows]


def of_account(work: UnitOfWork, uid: str, limit: int) -> list[AuditEntry]:
    """Return the latest entries of an account, newest first."""
    columns = [audit.c[name] for name in AuditEntry.__dataclass_fields__]
    where = (audit.c.tenant_id == work.tenant_id, audit.c.uid == uid)
    rows = work.all(select(*columns).where(*where).order_by(audit.c.at.desc()).limit(limit))
    return [AuditEntry(**row._mapping) for row in rows]


def pages(work: UnitOfWork, event: str, since: datetime, until: datetime, size: int) -> Iterator[list[TenantEntry]]:
    """Yield the tenant's entries of an event from `since` to before `until`, the newest first, in pages."""
    columns = [audit.c[name] for name in TenantEntry.__dataclass_fields__]
    first, end = _first_id(since), _first_id(until)
    query = select(audit.c.entry_id, *columns).where(
        audit.c.tenant_id == work.tenant_id, audit.c.event == event, audit.c.entry_id >= first
    )
    ordered = query.order_by(audit.c.entry_id.desc()).limit(size)
    while rows := work.all(ordered.where(audit.c.entry_id < end)):
        end = rows[-1].entry_id
        yield [TenantEntry(**{name: getattr(row, name) for name in TenantEntry.__dataclass_fields__}) for row in rows]
        if len(rows) < size:
            return


def _first_id(at: datetime) -> str:
    """Return the id that sorts before all ids of a moment."""
    milliseconds, microseconds = divmod(at.microsecond, 1000)
    return f"{max(int(at.timestamp()) * 1000 + milliseconds, 0):012x}{microseconds:03x}"
