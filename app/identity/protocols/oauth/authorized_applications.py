"""Which applications may act for an account, and the end of that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from app.identity.authentication.sign_in import sessions
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.tenants import profile_client
from app.identity.platform.context import Context
from app.identity.protocols.oauth import codes, consents


@dataclass(frozen=True)
class Access:
    """What an application was given."""

    client_id: str
    scopes: tuple[str, ...]
    since: datetime


def of_account(context: Context, uid: str) -> list[Access]:
    """Return the applications that an account consented to, or that hold a token of it; the newest first.

    The tenant's own pages are none.
    """
    found: dict[str, Access] = {}
    given = [Access(one.client_id, one.scopes, one.given_at) for one in consents.of_account(context, uid)]
    held = [
        Access(one.client_id, tuple(one.scope.split()), one.since) for one in tokens.authorized_clients(context, uid)
    ]
    for one in (*given, *held):
        before = found.get(one.client_id)
        found[one.client_id] = one if before is None else _joined(before, one)
    found.pop(profile_client.CLIENT_ID, None)
    return sorted(found.values(), key=lambda one: one.since, reverse=True)


def revoke(context: Context, uid: str, client_id: str) -> None:
    """End what an application may do for an account. Of a code that is exchanged meanwhile the tokens end, too.

    Codes go first: whoever exchanges one holds its row until the tokens stand.
    """
    consents.take_back(context, uid, client_id)
    codes.drop(context, uid, client_id)
    sessions.end_of_application(context, uid, client_id)
    tokens.revoke_client(context, uid, client_id)
    context.audit.record("consent.revoked", uid=uid, client_id=client_id)


def _joined(one: Access, other: Access) -> Access:
    return replace(one, scopes=_without_doubles((*one.scopes, *other.scopes)), since=min(one.since, other.since))


def _without_doubles(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
