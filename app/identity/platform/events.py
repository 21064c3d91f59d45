"""Records the interface's account events (webhook events) in the audit log."""

from __future__ import annotations

from typing import Any, Protocol

from app.identity.platform.context import Context


class Subject(Protocol):
    """The account that an event is about."""

    @property
    def uid(self) -> str: ...


def emit(context: Context, name: str, account: Subject, silent: bool, **facts: Any) -> None:
    """Record an event of the interface, for example `Register` or `UpdateProfile`.

    `silent` is the caller's `prevent_webhook`: the event is audited but not sent to webhooks. `facts` are those of
    `AuditLog.record`.
    """
    context.audit.record(f"event.{name}", uid=account.uid, silent=silent, **facts)
