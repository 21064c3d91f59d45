"""The last requests of each SCIM connection, with what they changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import delete, insert, select

from app.identity.directory.provisioning.tables import scim_requests
from app.identity.platform.audit import time_ordered_id
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork

MAX_KEPT: Final = 100
_RETENTION: Final = timedelta(days=30)
Q = scim_requests.c


@dataclass(frozen=True)
class LoggedRequest:
    """A request, the status and the error of its answer, and the values that it changed."""

    request_id: str
    at: datetime
    method: str
    path: str
    status: int
    detail: str
    is_dry_run: bool
    changes: Sequence[dict[str, Any]]


_COLUMNS = tuple(Q[name] for name in LoggedRequest.__dataclass_fields__)


def write(work: UnitOfWork, connection_id: str, org_id: str, entry: LoggedRequest) -> None:
    """Add a request, and delete those before the last hundred."""
    of_connection = (Q.tenant_id == work.tenant_id, Q.connection_id == connection_id)
    values = {"tenant_id": work.tenant_id, "connection_id": connection_id, "org_id": org_id}
    work.run(insert(scim_requests).values(**values, **vars(entry), expires_at=entry.at + _RETENTION))
    oldest_kept = select(Q.request_id).where(*of_connection).order_by(Q.request_id.desc()).offset(MAX_KEPT).limit(1)
    row = work.one(oldest_kept)
    if row is not None:
        work.run(delete(scim_requests).where(*of_connection, Q.request_id <= row.request_id))


def new_id(at: datetime) -> str:
    return time_ordered_id(at)


def latest(context: Context, connection_id: str) -> list[LoggedRequest]:
    """Return the last requests of a connection, the newest first."""
    where = (Q.tenant_id == context.tenant.tenant_id, Q.connection_id == connection_id)
    ordered = select(*_COLUMNS).where(*where).order_by(Q.request_id.desc()).limit(MAX_KEPT)
    return [LoggedRequest(**row._mapping) for row in context.work.all(ordered)]
