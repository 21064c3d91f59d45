"""id_token_hint: an id_token of this tenant, over or not, as a hint of who asks and for whom."""

from __future__ import annotations

from dataclasses import dataclass

from app.identity.call import Call
from app.identity.oauth import issuers, signatures
from app.identity.tenants.tenant import Application


@dataclass(frozen=True)
class Hint:
    """Whom an id_token was for."""

    client: Application
    uid: str
    session_id: str | None


def read(call: Call, text: str) -> Hint | None:
    """Return what an id_token says whose signature, issuer and audience are right; its times are not looked at."""
    try:
        claims = signatures.read(call, text)
    except signatures.NotOurs:
        return None
    audience, uid = claims.get("aud"), claims.get("sub")
    client = call.application(client_id=audience) if isinstance(audience, str) else None
    if client is None or not isinstance(uid, str) or not issuers.is_ours(call, claims.get("iss"), client):
        return None
    session_id = claims.get("sid")
    return Hint(client, uid, session_id if isinstance(session_id, str) else None)
