"""The interface's account events (webhook events): recorded in the audit log, and handed to the webhooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from app.contract.webhooks.events import EventName
from app.identity.platform.context import Context
from app.identity.platform.extension_points import ExtensionPoint


class Subject(Protocol):
    """The account that an event is about: a `directory.accounts.account.Account`, which this package cannot name.

    The members are those by which the types tell it from a reference to an account.
    """

    @property
    def uid(self) -> str: ...
    @property
    def profile(self) -> dict[str, Any]: ...
    @property
    def private(self) -> dict[str, Any]: ...


listeners: Final[ExtensionPoint[Callable[[Context, EventName, Subject], None]]] = ExtensionPoint()
"""Called with each event that is not suppressed, in the transaction of the change."""


def emit(context: Context, name: EventName, account: Subject, **facts: Any) -> None:
    """Record an event of the interface, once per cause, in the transaction of the change.

    An event of a context that `suppresses_webhooks` is audited but not sent to webhooks.

    Args:
        account: the account as the change left it, with all its columns: webhooks show its profile. A deleted one as it was last.
        facts: those of `AuditLog.record`.
    """
    context.audit.record(f"event.{name}", uid=account.uid, silent=context.suppresses_webhooks, **facts)
    if not context.suppresses_webhooks:
        for listener in listeners:
            listener(context, name, account)
