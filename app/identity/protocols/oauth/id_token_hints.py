"""id_token_hint: an id_token of this tenant, expired or not, that names the client and the account."""

from __future__ import annotations

from dataclasses import dataclass

from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers, signatures


@dataclass(frozen=True)
class Hint:
    """Whom an id_token was for."""

    client: Application
    uid: str
    session_id: str | None


def read(context: Context, text: str) -> Hint | None:
    """Return the claims of an id_token if signature, issuer and audience are right; `exp` is not checked."""
    try:
        claims = signatures.read(context, text)
    except signatures.NotOurs:
        return None
    audience, uid = claims.get("aud"), claims.get("sub")
    client = context.application(client_id=audience) if isinstance(audience, str) else None
    if client is None or not isinstance(uid, str) or not issuers.is_ours(context, claims.get("iss"), client):
        return None
    session_id = claims.get("sid")
    return Hint(client, uid, session_id if isinstance(session_id, str) else None)
