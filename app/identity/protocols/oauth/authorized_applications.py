"""Applications that may act for an account, and how an account revokes them."""

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
    """The access of one application."""

    client_id: str
    scopes: tuple[str, ...]
    since: datetime


def of_account(context: Context, uid: str) -> list[Access]:
    """Return the applications that an account consented to or that hold a token of it, newest first.

    The hosted pages' own client is left out.
    """
    found: dict[str, Access] = {}
    given = [Access(one.client_id, one.scopes, one.given_at) for one in consents.of_account(context, uid)]
    with_tokens = [
        Access(one.client_id, tuple(one.scope.split()), one.since) for one in tokens.authorized_clients(context, uid)
    ]
    for one in (*given, *with_tokens):
        before = found.get(one.client_id)
        found[one.client_id] = one if before is None else _joined(before, one)
    found.pop(profile_client.CLIENT_ID, None)
    return sorted(found.values(), key=lambda one: one.since, reverse=True)


def revoke(context: Context, uid: str, client_id: str) -> None:
    """Revoke an application's access to an account, including tokens of a code that is exchanged at the same moment.

    Codes go first: an exchange holds its code's row lock until the tokens are stored.
    """
    consents.take_back(context, uid, client_id)
    codes.drop(context, uid, client_id)
    sessions.end_for_application(context, uid, client_id)
    tokens.revoke_client(context, uid, client_id)
    context.audit.record("consent.revoked", uid=uid, client_id=client_id)


def _joined(one: Access, other: Access) -> Access:
    return replace(one, scopes=_unique((*one.scopes, *other.scopes)), since=min(one.since, other.since))


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
