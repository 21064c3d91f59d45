"""OpenID Connect Back-Channel Logout 1.0: logout tokens for the applications of sessions that end.

They go into the outbox in the transaction that ends the sessions (decision 0226). Tokens with `offline_access` stay valid
(Back-Channel Logout 1.0 section 2.7); the others ended with their session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from app.identity.authentication.sign_in.sessions.session_ends import EndedSession, Ending
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.claims import subjects
from app.kit import randomness

KIND: Final = "backchannel_logout"
"""The kind of the messages in the outbox."""
TYPE: Final = "logout+jwt"
EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
_MAX_SESSIONS: Final = 20
"""More sessions than these, all of an account, are ended by one token without `sid`, where the application allows that."""
_MAX_TOKENS: Final = 200
"""Of one application in one transaction: the most recent sessions."""


def notify_applications(context: Context, ending: Ending) -> None:
    """Post a logout token for each session and address of each application that wants one for this reason (section 2.3)."""
    for client_id, sessions in _by_client(ending).items():
        client = context.application(client_id=client_id)
        if (
            client is None
            or not client.settings.is_active
            or ending.reason not in client.settings.backchannel_logout_on
        ):
            continue
        if (addresses := client.settings.logout_urls) and _has_key(context, client):
            count = 0
            for claims in _logout_claims(context, client, sessions, is_complete=ending.is_complete):
                _post(context, client, addresses, claims)
                count += 1
            context.audit.record("logout.announced", uid=sessions[0].uid, client_id=client_id, sessions=count)


def _by_client(ending: Ending) -> dict[str, list[EndedSession]]:
    """Return the sessions of each application; one never learns of others (Back-Channel Logout 1.0 section 2.3)."""
    found: dict[str, list[EndedSession]] = {}
    for session in ending.sessions:
        for client_id in session.issuers:
            found.setdefault(client_id, []).append(session)
    return found


def _logout_claims(
    context: Context, client: Application, sessions: Sequence[EndedSession], *, is_complete: bool
) -> Iterator[dict[str, Any]]:
    """Yield the session claims of each token: `iss`, `sub` and `sid`."""
    if is_complete and len(sessions) > _MAX_SESSIONS and not client.settings.backchannel_logout_session_required:
        for issuer in dict.fromkeys(_issuer(context, client, session) for session in sessions):
            yield {"iss": issuer, "sub": subjects.of(context, client, sessions[0].uid)}
        return
    for session in sessions[-_MAX_TOKENS:]:
        yield {
            "iss": _issuer(context, client, session),
            "sub": subjects.of(context, client, session.uid),
            "sid": subjects.sid_of(context, client, session.session_id),
        }


def _issuer(context: Context, client: Application, session: EndedSession) -> str:
    return session.issuers[client.client_id] or issuers.tenant_wide(context).url


def _post(context: Context, client: Application, addresses: Sequence[str], about: dict[str, Any]) -> None:
    """Sign a logout token without nonce (Back-Channel Logout 1.0 section 2.4) and post it to each address."""
    issued_at = int(context.now.timestamp())
    expires_at = issued_at + client.settings.logout_token_seconds
    claims = {
        **about,
        "aud": client.client_id,
        "iat": issued_at,
        "exp": expires_at,
        "jti": randomness.token(18),
        "events": {EVENT: {}},
    }
    token = context.services.signing_keys.sign(context.work, claims, TYPE, _algorithm(client))
    for address in addresses:
        context.outbox.post(KIND, {"to": address, "logout_token": token, "expires_at": expires_at})


def _algorithm(client: Application) -> str:
    return client.settings.id_token_signed_response_alg


def _has_key(context: Context, client: Application) -> bool:
    """Return whether the tenant can sign for the client; without a key it has signed no id_token either."""
    return context.services.signing_keys.can_sign(context.work, _algorithm(client))
