"""Tells higher packages that sessions ended, in the transaction that ends them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy.engine import Row

from app.contract.applications.logout_settings import LogoutReason
from app.identity.platform.context import Context
from app.identity.platform.extension_points import ExtensionPoint


@dataclass(frozen=True)
class EndedSession:
    """A session that ended, and the applications that took part in it."""

    session_id: str
    uid: str
    issuers: dict[str, str | None]
    """By client id, the most recent last: the issuer of its tokens; None where an older version recorded none."""
    service_providers: dict[str, str] = field(default_factory=dict)
    """By the name of a SAML client, the most recent last: the format of its NameID, a space, and the NameID."""


@dataclass(frozen=True)
class Ending:
    """Sessions of one account that ended together. `is_complete`: the account has no other session."""

    sessions: tuple[EndedSession, ...]
    reason: LogoutReason
    is_complete: bool = False


listeners: Final = ExtensionPoint[Callable[[Context, Ending], None]]()
"""Called with every ending in which an application took part."""


def announce(context: Context, ending: Ending) -> None:
    """Call the listeners, unless no application took part."""
    if any(session.issuers for session in ending.sessions):
        for notify in listeners:
            notify(context, ending)


def from_row(row: Row[Any]) -> EndedSession:
    """Return the ended session of a deleted row, with the application whose grant began it."""
    known = row.issuers or {}
    participants = [*row.relying_parties, *([row.client_id] if row.client_id else [])]
    names = {participant: service_provider_of(participant) for participant in participants}
    return EndedSession(
        row.session_id,
        row.uid,
        {client_id: known.get(client_id) for client_id in participants if names[client_id] is None},
        {name: known.get(participant, "") for participant, name in names.items() if name is not None},
    )


def participant_of(service_provider: str) -> str:
    """Return the name of a SAML client in the list of a session's applications: no client ID of OAuth has a space."""
    return f"saml {service_provider}"


def service_provider_of(participant: str) -> str | None:
    """Return the name of the SAML client of an entry in this list; None for an OAuth client."""
    _, space, name = participant.partition(" ")
    return name if space else None
