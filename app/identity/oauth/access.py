"""Which applications may act for an account, and the end of that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from app.identity.call import Call
from app.identity.oauth import codes, consents
from app.identity.sign_in import sessions
from app.identity.tenants import own
from app.identity.tokens import service as tokens


@dataclass(frozen=True)
class Access:
    """What an application was given."""

    client_id: str
    scopes: tuple[str, ...]
    since: datetime


def of_account(call: Call, uid: str) -> list[Access]:
    """Return the applications that an account consented to, or that hold a token of it; the newest first.

    The tenant's own pages are none.
    """
    found: dict[str, Access] = {}
    given = [Access(one.client_id, one.scopes, one.given_at) for one in consents.of_account(call, uid)]
    held = [Access(one.client_id, tuple(one.scope.split()), one.since) for one in tokens.clients(call, uid)]
    for one in (*given, *held):
        before = found.get(one.client_id)
        found[one.client_id] = one if before is None else _joined(before, one)
    found.pop(own.CLIENT_ID, None)
    return sorted(found.values(), key=lambda one: one.since, reverse=True)


def revoke(call: Call, uid: str, client_id: str) -> None:
    """End what an application may do for an account. Of a code that is exchanged meanwhile the tokens end, too.

    Codes go first: whoever exchanges one holds its row until the tokens stand.
    """
    consents.take_back(call, uid, client_id)
    codes.drop(call, uid, client_id)
    sessions.end_of_application(call, uid, client_id)
    tokens.revoke_client(call, uid, client_id)
    call.ledger.record("consent.revoked", uid=uid, client_id=client_id)


def _joined(one: Access, other: Access) -> Access:
    return replace(one, scopes=_without_doubles((*one.scopes, *other.scopes)), since=min(one.since, other.since))


def _without_doubles(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
