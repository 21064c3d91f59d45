"""OpenID Connect Front-Channel Logout 1.0: the addresses that the page after sign-out loads in frames."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode

from app.identity.authentication.sign_in.sessions.session_ends import EndedSession
from app.identity.platform.context import Context
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.claims import subjects

MAX_FRAMES: Final = 20
"""The applications that took part last; a page with more frames would not load in time."""


def frames(context: Context, session: EndedSession) -> list[str]:
    """Return the address of each application of the session that registered one, with `iss` and `sid` (section 2)."""
    addresses: list[str] = []
    for client_id, issuer in reversed(session.issuers.items()):
        client = context.application(client_id=client_id)
        if client is None or not client.settings.is_active or len(addresses) >= MAX_FRAMES:
            continue
        if (address := client.settings.frontchannel_logout_uri) is not None:
            sid = subjects.sid_of(context, client, session.session_id)
            about = {"iss": issuer or issuers.tenant_wide(context).url, "sid": sid}
            addresses.append(f"{address}{'&' if '?' in address else '?'}{urlencode(about, quote_via=quote)}")
    return addresses
