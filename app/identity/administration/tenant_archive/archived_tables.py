"""Which tables an archive of a tenant holds, and why it leaves the others out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Table

from app.identity.platform.store.tables import all_tables

_PASSES: Final = "lives for minutes or hours, in a sign-in that begins again"
_SESSION: Final = "two installations would accept it: people and applications sign in again"
LEFT_OUT: Final[Mapping[str, str]] = {
    "access_tokens": _SESSION,
    "attempts": _PASSES,
    "codes": _PASSES,
    "connection_traces": "tells about calls of the other installation, for days",
    "organization_link_users": _PASSES,
    "organization_setup_links": "would open in both installations: create new ones",
    "outbox": "the other installation delivers it: a message would be sent twice",
    "outbox_queues": "belongs to the deliveries of the other installation",
    "proofs": "is under the key of the other installation: codes and links are sent again",
    "refresh_tokens": _SESSION,
    "sessions": _SESSION,
    "spent_captchas": _PASSES,
    "strangers": "is under the key of the other installation, for minutes",
    "theme_failures": "tells about pages of the other installation, for days",
    "tickets": _PASSES,
    "waiting_accounts": "waits for a code of the other installation: the person registers again",
}
"""Each table that is not archived, and why."""


def archived_tables() -> list[Table]:
    """Return the tables in the order of an archive, the tenant's own row first."""
    kept = [table for name, table in all_tables().items() if name not in LEFT_OUT]
    return sorted(kept, key=lambda table: (table.name != "tenants", table.name))
