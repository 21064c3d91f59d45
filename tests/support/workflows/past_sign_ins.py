"""Sign-ins of the past, written as rows of the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.identity.platform.audit import audit, time_ordered_id
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.tenant_server import TenantServer

OLDER: Mapping[str, Any] = {"silent": False}
"""What versions before this one kept of a sign-in."""


@dataclass(frozen=True)
class WrittenSignIn:
    """A sign-in; without `facts`, a plain one by password."""

    at: datetime
    uid: str
    address: str = "198.51.100.7"
    client_id: str | None = None
    facts: Mapping[str, Any] = field(default_factory=lambda: facts())


def facts(**others: Any) -> dict[str, Any]:
    """Return what the entry of a sign-in keeps, as this version writes it."""
    return {"silent": False, "logins": 5, "methods": ["pwd"], "has_password": True, **others}


def write(tenant: TenantServer, sign_ins: Iterable[WrittenSignIn], event: str = "event.Login") -> None:
    rows = [
        {
            "tenant_id": tenant.tenant_id, "entry_id": time_ordered_id(item.at), "at": item.at, "event": event, "uid": item.uid,
            "client_id": item.client_id, "address": item.address, "reference": None, "facts": dict(item.facts),
        }
        for item in sign_ins
    ]  # fmt: skip
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        for start in range(0, len(rows), 500):
            work.run(audit.insert(), rows[start : start + 500])
