"""Grant authorization_code (RFC 6749 section 4.1.3, RFC 7636 section 4.6)."""

from __future__ import annotations

import hashlib
import hmac

from app.contract.oauth.oauth_errors import InvalidGrant, InvalidRequest
from app.contract.oauth.oauth_token_operations import TokenRequest, TokenResponse
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.tokens import token_store
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import authorization_details, resource_indicators
from app.identity.protocols.oauth.code_challenge import PLAIN, VERIFIER
from app.identity.protocols.oauth.grants.grant import Grant
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints import token_binding
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import authorization_codes, grant_accounts, token_response
from app.identity.protocols.oauth.tokens.authorization_codes import CodeRefused, GrantedRequest
from app.identity.protocols.oauth.tokens.grant_result import GrantResult
from app.kit import randomness

NAME = "authorization_code"


def exchange(
    context: Context, client: Application, issuer: Issuer, req: TokenRequest, confirmation: Confirmation
) -> TokenResponse:
    """Spend the code and issue its tokens.

    A wrong redirect URI or verifier does not spend the code, so that an attacker cannot use it up. A second use revokes the
    tokens of the first (RFC 6749 section 4.1.2).
    """
    if req.code is None:
        raise InvalidRequest.names("code")
    if req.redirect_uri is None:
        raise InvalidRequest.names("redirect_uri")
    try:
        code = authorization_codes.spend(context, req.code, client.client_id)
    except CodeRefused as refusal:
        _revoke_reused(context, client, refusal)
        raise InvalidGrant("The code is not valid.") from None
    request = code.request
    if request.issuer != issuer.url:
        raise InvalidGrant("The code was issued by another issuer.")
    if request.redirect_uri != req.redirect_uri:
        raise InvalidGrant("The redirect_uri differs.")
    _verify_pkce(request, req.code_verifier)
    token_binding.check_code(confirmation, request.dpop_jkt)
    live = sessions.lock_live(context, code.session_id) if code.session_id is not None else None
    if code.session_id is not None and live is None:
        raise InvalidGrant("The session was ended.")  # the end of a session ends its unused codes
    account = grant_accounts.active_account(context, code.uid, live)
    grant = GrantResult(
        kind=NAME,
        scope=request.scope,
        confirmation=confirmation,
        uid=code.uid,
        session_id=code.session_id,
        session_ends_at=live.ends_at if live is not None else None,
        family_id=code.family_id,
        nonce=request.nonce,
        resource=resource_indicators.resolve(context, client, request.resource, req.resource),
        claims=authorization_details.claimed(
            context, client, request.claims, request.authorization_details, req.authorization_details
        ),
        membership=grant_accounts.active_membership(context, account.uid, request.claims.org_id),
    )
    return token_response.token_response(context, client, issuer, grant, account)


def _verify_pkce(request: GrantedRequest, verifier: str | None) -> None:
    """Compare verifier and challenge; a verifier without a challenge is a downgrade (RFC 9700 section 2.1.1)."""
    challenge = request.code_challenge
    if challenge is None:
        if verifier is not None:
            raise InvalidGrant("The code was asked for without a code_challenge.")
        return
    if verifier is None:
        raise InvalidGrant("The code_verifier is missing.")
    if not VERIFIER.fullmatch(verifier):
        raise InvalidGrant("The code_verifier is not formatted correctly.")
    is_plain = request.code_challenge_method == PLAIN
    computed = verifier if is_plain else randomness.base64url(hashlib.sha256(verifier.encode()).digest())
    if not hmac.compare_digest(computed, challenge):
        raise InvalidGrant("The code_verifier is not valid.")


def _revoke_reused(context: Context, client: Application, refusal: CodeRefused) -> None:
    if refusal.family_id is None:
        return
    context.work.rollback()
    with context.work.separate_transaction() as transaction:
        token_store.delete_family(transaction, refusal.family_id)
    context.audit.record("code.reused", client_id=client.client_id, family=refusal.family_id)


GRANT = Grant(NAME, exchange, takes_details=True)
