"""Applications with access to an account, and the revocation of their access."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.tokens import tokens
from app.identity.directory.tenants import profile_client
from app.identity.platform.context import Context
from app.identity.protocols.oauth.consents import application_consents
from app.identity.protocols.oauth.tokens import authorization_codes


@dataclass(frozen=True)
class ApplicationAccess:
    """The access of one application."""

    client_id: str
    scopes: tuple[str, ...]
    since: datetime


def of_account(context: Context, uid: str) -> list[ApplicationAccess]:
    """Return the applications that an account consented to or that have a token of it, newest first.

    The hosted pages' own client is left out.
    """
    by_client: dict[str, ApplicationAccess] = {}
    consented = [
        ApplicationAccess(consent.client_id, consent.scopes, consent.given_at)
        for consent in application_consents.of_account(context, uid)
    ]
    with_tokens = [
        ApplicationAccess(client.client_id, tuple(client.scope.split()), client.since)
        for client in tokens.authorized_clients(context, uid)
    ]
    for access in (*consented, *with_tokens):
        known = by_client.get(access.client_id)
        by_client[access.client_id] = access if known is None else _merge(known, access)
    by_client.pop(profile_client.CLIENT_ID, None)
    return sorted(by_client.values(), key=lambda access: access.since, reverse=True)


def revoke(context: Context, uid: str, client_id: str) -> None:
    """Revoke an application's access to an account, including tokens of a code that is exchanged concurrently.

    Codes are deleted first, because an exchange locks its code's row until the tokens are stored.
    """
    application_consents.revoke(context, uid, client_id)
    authorization_codes.delete_for_client(context, uid, client_id)
    sessions.end_for_application(context, uid, client_id)
    tokens.revoke_client(context, uid, client_id)
    context.audit.record("consent.revoked", uid=uid, client_id=client_id)


def _merge(item: ApplicationAccess, other: ApplicationAccess) -> ApplicationAccess:
    return replace(item, scopes=_unique((*item.scopes, *other.scopes)), since=min(item.since, other.since))


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
