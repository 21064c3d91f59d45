"""OpenID Connect Front-Channel Logout 1.0: the addresses that the page after sign-out loads in frames."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode

from app.identity.authentication.sign_in.session_ends import EndedSession
from app.identity.platform.context import Context
from app.identity.protocols.oauth import issuers

MOST_FRAMES: Final = 20
"""The applications that took part last; a page with more frames would not load in time."""


def frames(context: Context, session: EndedSession) -> list[str]:
    """Return the address of each application of the session that registered one, with `iss` and `sid` (section 2)."""
    found: list[str] = []
    for client_id, issuer in reversed(session.issuers.items()):
        client = context.application(client_id=client_id)
        address = client.settings.frontchannel_logout_uri if client is not None and client.settings.is_active else None
        if address is not None and len(found) < MOST_FRAMES:
            about = {"iss": issuer or issuers.tenant_wide(context).url, "sid": session.session_id}
            found.append(f"{address}{'&' if '?' in address else '?'}{urlencode(about, quote_via=quote)}")
    return found
