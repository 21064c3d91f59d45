"""Tells higher packages that connections of an organization sign no one in any more, in the transaction that turns them off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from app.identity.platform.context import Context
from app.identity.platform.extension_points import ExtensionPoint

listeners: Final = ExtensionPoint[Callable[[Context, str, str | None], None]]()
"""Called with the organization and one of its connections; None: all of them."""


def announce(context: Context, org_id: str, connection_id: str | None = None) -> None:
    """Call the listeners; the organization must still have its connections.

    Args:
        connection_id: the connection that was turned off or deleted; None: all, because the organization lost a verified domain,
            was deactivated, or is being deleted.
    """
    for end in listeners:
        end(context, org_id, connection_id)
