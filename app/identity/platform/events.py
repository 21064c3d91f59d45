"""What happens to accounts, by the interface's event names: one place that records it and tells subscribers."""

from __future__ import annotations

from typing import Protocol

from app.identity.platform.context import Context


class Subject(Protocol):
    """Whom an event is about."""

    @property
    def uid(self) -> str: ...


def emit(context: Context, name: str, account: Subject, silent: bool) -> None:
    """Record an event of the interface (tenant-config.md section 5), for example `Register` or `UpdateProfile`.

    `silent` is the caller's `prevent_webhook`: the audit trail has the event all the same, subscribers are not told.
    """
    context.audit.record(f"event.{name}", uid=account.uid, silent=silent)
