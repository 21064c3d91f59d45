"""Grant device_code (RFC 8628 section 3.4): a device without a browser polls until a person answered on another one.

Its tokens end with a session of their own, which the person sees and ends like others; the browser that allowed it keeps its own.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from app.contract.applications.file import DEVICE_GRANT
from app.contract.oauth.oauth_errors import InvalidGrant, InvalidRequest
from app.contract.oauth.oauth_token_operations import TokenRequest, TokenResponse
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth import authorization_details, resource_indicators
from app.identity.protocols.oauth.authorize import device_codes
from app.identity.protocols.oauth.grants.grant import Grant
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import grant_accounts, lifetimes, token_response, workflow_claims
from app.identity.protocols.oauth.tokens.grant_result import GrantResult

NAME = DEVICE_GRANT


def exchange(
    context: Context, client: Application, issuer: Issuer, req: TokenRequest, confirmation: Confirmation
) -> TokenResponse:
    """Issue the tokens that a person allowed; the end of the browser session in which they did ends unused permissions."""
    if req.device_code is None:
        raise InvalidRequest.names("device_code")
    facts = device_codes.redeem(context, client, issuer, req.device_code)
    if sessions.lock_expiry(context, facts["session_id"]) is None:
        raise InvalidGrant("The session was ended.")
    account = grant_accounts.active_account(context, facts["uid"])
    scope, methods = tuple(facts["scope"]), tuple(facts["amr"])
    has_refresh = lifetimes.has_refresh_token(client, scope)
    lifetime = (
        lifetimes.refresh_lifetime(context, client) if has_refresh else lifetimes.access_lifetime(context, client)
    )
    authenticated_at = datetime.fromtimestamp(facts["auth_time"], UTC)
    session = sessions.start_for_grant(
        context, account.uid, methods, client.client_id, lifetime, issuer=issuer.url, authenticated_at=authenticated_at
    )
    resource = resource_indicators.resolve(context, client, facts.get("resource"), req.resource)
    claims = replace(
        TokenClaims.from_stored(facts).only("auth_time", "amr", "org_id", *workflow_claims.STORED),
        resource=resource or None,
    )
    details = facts.get("details") or ()
    grant = GrantResult(
        kind=NAME,
        scope=scope,
        confirmation=confirmation,
        uid=account.uid,
        session_id=session.session_id,
        session_ends_at=session.expires_at,
        resource=resource,
        claims=authorization_details.claimed(context, client, claims, details, req.authorization_details),
        membership=grant_accounts.active_membership(context, account.uid, claims.org_id),
    )
    return token_response.token_response(context, client, issuer, grant, account)


GRANT = Grant(NAME, exchange, takes_details=True, shows_use=True)
