"""Ends the sessions and tokens of accounts that sign in by an organization's connection, once it signs no one in any more.

Tokens, and sessions handed to a device or another browser, do not record which provider began the sign-in. So all sessions and
tokens of these accounts that began at any provider end; people who may still sign in do so again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from sqlalchemy.engine import Row

from app.identity.authentication.federation import token_handoff
from app.identity.authentication.sign_in.sessions import session_ends, session_store, sessions
from app.identity.authentication.sign_in.sessions.session_ends import Ending
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import linked_identities
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose

_BATCH: Final = 500
"""Accounts of one statement."""
_PURPOSES: Final = (
    ContinuationPurpose.SECOND_FACTOR,
    ContinuationPurpose.PIN_SESSION,
    ContinuationPurpose.STEP_UP,
    *token_handoff.KINDS,
)


def end_of_connections(context: Context, org_id: str, connection_id: str | None = None) -> None:
    """End the sessions and tokens of the accounts that sign in by a connection, or by all connections of an organization."""
    connections = organization_connection_store.of_organizations(context, [org_id])[org_id]
    for connection in connections:
        if connection_id in (None, connection.connection_id):
            _end_of(context, org_id, connection.connection_id)


def _end_of(context: Context, org_id: str, connection_id: str) -> None:
    linked = linked_identities.uids_at(context.work, connection_id)
    uids = sorted({*linked, *session_store.uids_of_connection(context, connection_id)})
    ended = 0
    for start in range(0, len(uids), _BATCH):
        ended += _end_of_accounts(context, uids[start : start + _BATCH])
    if uids:
        facts = {"org_id": org_id, "connection_id": connection_id}
        context.audit.record("organization.connection_sessions_ended", accounts=len(uids), sessions=ended, **facts)


def _end_of_accounts(context: Context, uids: Collection[str]) -> int:
    """End what the accounts began at a provider. Return the number of sessions."""
    removed = sorted(session_store.remove_with_method(context, uids, sessions.FEDERATED), key=attrgetter("uid"))
    tokens.revoke_with_method(context, uids, sessions.FEDERATED, [row.session_id for row in removed])
    continuation_tokens.revoke_all_of(context, uids, *_PURPOSES)
    for uid, rows in groupby(removed, key=attrgetter("uid")):
        _announce(context, uid, list(rows))
    return len(removed)


def _announce(context: Context, uid: str, removed: Sequence[Row[tuple[str, ...]]]) -> None:
    alive = tuple(session_ends.from_row(row) for row in removed if row.expires_at > context.now)
    session_ends.announce(context, Ending(alive, "idp_logout"))
    context.audit.record("sessions.ended", uid=uid, reason="connection")
