"""Grant refresh_token (RFC 6749 section 6): rotates on use; reuse of an old token revokes its whole family (RFC 9700 section 4.14),
except by other tabs and after lost responses (decision 0344).

A client whose tokens are bound to it may keep its refresh token (FAPI 2.0 Security Profile section 5.3.2.1).
"""

from __future__ import annotations

from dataclasses import replace

from app.contract.oauth.oauth_errors import InvalidGrant, InvalidRequest, InvalidScope
from app.contract.oauth.oauth_token_operations import TokenRequest, TokenResponse
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.tokens import token_store, tokens
from app.identity.credentials.tokens.tokens import RefreshRefused, SpentRefreshToken
from app.identity.directory.organizations.organization import Membership
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import authorization_details, resource_indicators
from app.identity.protocols.oauth.grants.grant import Grant
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints import token_binding
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import grant_accounts, lifetimes, token_response, workflow_claims
from app.identity.protocols.oauth.tokens.grant_result import GrantResult

NAME = "refresh_token"


def exchange(
    context: Context, client: Application, issuer: Issuer, req: TokenRequest, confirmation: Confirmation
) -> TokenResponse:
    """Spend the refresh token and issue its successors; a narrower scope applies to this access token only.

    A family that does not outlive its session ends with it; the session's stored end counts, because it may have moved.
    """
    if req.refresh_token is None:
        raise InvalidRequest.names("refresh_token")
    judged = workflow_claims.before_refresh(context, client, req.refresh_token, req.scope)
    is_retained = client.settings.keeps_refresh_tokens and not client.settings.is_public
    spent = _take(context, client, req.refresh_token, is_retained=is_retained)
    if spent.claims.issuer != issuer.url or spent.uid is None:
        raise InvalidGrant("The refresh_token was issued by another issuer.")
    token_binding.check_refresh(confirmation, client, spent.claims)
    granted = spent.claims.granted or spent.scope
    scope = _narrow(granted.split(), req.scope)
    resource = resource_indicators.resolve(context, client, spent.claims.resource, req.resource)
    claims = workflow_claims.taken_over(judged, replace(spent.claims, granted=granted))
    details = spent.claims.granted_details or ()
    claims = authorization_details.claimed(context, client, claims, details, req.authorization_details)
    session_id = spent.session_id or claims.sid
    live = None
    if session_id is not None:
        live = sessions.extend_on_refresh(context, session_id, lifetimes.refresh_lifetime(context, client, claims))
        if live is None and not lifetimes.outlives_session(client, granted.split()):
            raise InvalidGrant("The session was ended.")
    account = grant_accounts.active_account(context, spent.uid, live)
    grant = GrantResult(
        kind=NAME,
        scope=scope,
        confirmation=confirmation,
        uid=spent.uid,
        session_id=session_id,
        session_ends_at=live.ends_at if live is not None else None,
        family_id=spent.family_id,
        resource=resource,
        claims=claims,
        membership=_membership(context, client, spent),
        retained_refresh=req.refresh_token if is_retained else None,
    )
    response = token_response.token_response(context, client, issuer, grant, account)
    tokens.record_repeated(context, spent)
    return response


def _take(context: Context, client: Application, refresh_token: str, *, is_retained: bool) -> SpentRefreshToken:
    settings, tenant_seconds = client.settings, context.tenant.settings.refresh_token_reuse_seconds
    try:
        if is_retained:
            return tokens.retain(context, refresh_token, client_id=client.client_id)
        interval = settings.reuse_seconds(tenant_seconds, is_public=settings.is_public)
        return tokens.rotate(context, refresh_token, client_id=client.client_id, reuse_seconds=interval)
    except RefreshRefused:
        raise InvalidGrant("The refresh_token is not valid.") from None


def _membership(context: Context, client: Application, spent: SpentRefreshToken) -> Membership | None:
    """Return the membership that the family is for; a family of a membership that ended is revoked."""
    try:
        return grant_accounts.active_membership(context, spent.uid or "", spent.claims.org_id)
    except InvalidGrant:
        context.work.rollback()
        with context.work.separate_transaction() as transaction:
            token_store.delete_family(transaction, spent.family_id)
        context.audit.record("tokens.membership_ended", uid=spent.uid, client_id=client.client_id)
        raise


def _narrow(granted: list[str], requested: str | None) -> tuple[str, ...]:
    scope = tuple(dict.fromkeys((requested or "").split()))
    if not scope:
        return tuple(granted)
    if not set(scope) <= set(granted):
        raise InvalidScope("The scope is wider than what was granted.")
    return scope


GRANT = Grant(NAME, exchange, takes_details=True, shows_use=True)
