"""Tokens of the implicit and hybrid flows, which the authorization endpoint itself issues (RFC 6749 section 4.2.2, OpenID Connect
Core sections 3.2.2.5 and 3.3.2.5). No refresh token is among them.
"""

from __future__ import annotations

import json
from datetime import datetime

from app.contract.oauth import response_types
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations.organization import Membership
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth import authorization_details, issuers
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect
from app.identity.protocols.oauth.claims import account_claims
from app.identity.protocols.oauth.sender_constraints.token_binding import UNBOUND
from app.identity.protocols.oauth.tokens import id_token, token_response
from app.identity.protocols.oauth.tokens.grant_result import GrantResult


def parameters(
    context: Context,
    client: Application,
    request: CheckedRequest,
    session: BrowserSession,
    account: Account,
    code: tuple[str, str] | None,
    claims: TokenClaims,
    membership: Membership | None,
) -> dict[str, str | None]:
    """Return the response parameters for the tokens of the request's response type.

    Args:
        code: the text and the token family of the code that the response brings too: reuse of the code revokes these tokens.
        claims: those that the tokens take over from the request.

    Raises:
        RefusedByRedirect: the session ended meanwhile.
    """
    words = request.response_type.split()
    ends_at = sessions.lock_expiry(context, session.session_id)
    if ends_at is None:
        raise RefusedByRedirect("login_required", "The session was ended.")
    issuer = issuers.issuer_of_url(context, client, request.issuer)
    stored = authorization_details.claimed(context, client, claims, request.authorization_details)
    grant = _grant(request, session, ends_at, code, stored, membership)
    sent: dict[str, str | None] = {}
    access_token = None
    if response_types.TOKEN in words:
        response = token_response.token_response(context, client, issuer, grant, account)
        access_token = response.access_token
        details = response.authorization_details
        sent = {
            "access_token": access_token,
            "token": access_token,  # the interface's older name for it
            "token_type": response.token_type,
            "expires_in": str(response.expires_in),
            "scope": response.scope,
            "authorization_details": json.dumps(details) if details else None,
        }
    if response_types.ID_TOKEN in words:
        hashed = {"c_hash": code[0] if code is not None else None, "at_hash": access_token}
        # Without an access token there is no userinfo: the claims of the scopes are in the id_token (Core section 5.4).
        more = account_claims.names(request.scope) if words == [response_types.ID_TOKEN] else ()
        sent["id_token"] = id_token.signed(context, client, issuer, grant, account, hashed, more)
    return sent


def _grant(
    request: CheckedRequest,
    session: BrowserSession,
    ends_at: datetime,
    code: tuple[str, str] | None,
    stored: TokenClaims,
    membership: Membership | None,
) -> GrantResult:
    return GrantResult(
        kind=response_types.IMPLICIT,
        scope=request.scope,
        confirmation=UNBOUND,
        uid=session.uid,
        session_id=session.session_id,
        session_ends_at=ends_at,
        family_id=code[1] if code is not None else None,
        nonce=request.nonce,
        resource=request.resource,
        claims=stored,
        membership=membership,
        is_access_only=True,
    )
