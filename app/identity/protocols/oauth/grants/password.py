"""Grant password (RFC 6749 section 4.3), only for clients that an older version registered for it: RFC 9700 section 2.4
forbids it, so `GrantType` of the configuration file does not name it.

The rules of the sign-in page apply: the same counter and locks, and unknown accounts are refused like known ones.
"""

from __future__ import annotations

from app.contract.errors import TooManyRequests
from app.contract.oauth.oauth_errors import InvalidGrant, InvalidRequest, SlowDown
from app.contract.oauth.oauth_token_operations import TokenRequest, TokenResponse
from app.identity.authentication.passwordless import password_login
from app.identity.authentication.sign_in import password_sign_in, sign_in_identifiers
from app.identity.authentication.sign_in.completion import ActionRequired, FactorRequired
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.workflows.tokens import token_workflows
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth import refusal_log, resource_indicators
from app.identity.protocols.oauth.grants.grant import Grant
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import lifetimes, token_response, workflow_claims
from app.identity.protocols.oauth.tokens.grant_result import GrantResult
from app.kit.operations.errors import ApiError

NAME = "password"
_METHODS = (password_sign_in.PASSWORD,)


def exchange(
    context: Context, client: Application, issuer: Issuer, req: TokenRequest, confirmation: Confirmation
) -> TokenResponse:
    """Verify the password, start a session for the client and issue tokens; `error_description` gives the reason of a refusal."""
    if req.username is None:
        raise InvalidRequest.names("username")
    if req.password is None:
        raise InvalidRequest.names("password")
    scope = tuple(dict.fromkeys((req.scope or "").split()))
    if unknown := set(scope) - client.scopes:
        raise refusal_log.scope_of_another(unknown)
    resource = resource_indicators.resolve(context, client, None, req.resource)
    has_refresh = lifetimes.has_refresh_token(client, scope)
    scope = scope if has_refresh else tuple(name for name in scope if name != lifetimes.OFFLINE)
    context.requested_scopes = scope = client.granted(scope)
    identifier = sign_in_identifiers.guess(context.tenant.settings, req.username)
    try:
        outcome = password_login.sign_in(
            context, identifier, req.password, LockSolution(), hides_unknown=True, options=VerificationOptions()
        )
    except TooManyRequests as refusal:
        raise SlowDown(retry_after_seconds=refusal.retry_after_seconds) from None
    except ApiError as refusal:
        raise InvalidGrant(f"{refusal.message}.") from None
    if isinstance(outcome, FactorRequired):
        raise InvalidGrant("A second factor is needed, which this grant cannot ask for.")
    if isinstance(outcome, ActionRequired):
        raise InvalidGrant("Something must be accepted first, which this grant cannot ask for.")
    account = outcome.account
    claims = TokenClaims(auth_time=int(context.now.timestamp()), amr=_METHODS, resource=resource)
    claims = token_workflows.of_run(outcome.authentication.workflow, claims)
    claims = workflow_claims.with_hook(context, client, account, claims)
    lifetime = (
        lifetimes.refresh_lifetime(context, client) if has_refresh else lifetimes.access_lifetime(context, client)
    )
    session = sessions.start_for_grant(context, account.uid, _METHODS, client.client_id, lifetime, issuer=issuer.url)
    grant = GrantResult(
        kind=NAME, scope=scope, confirmation=confirmation, uid=account.uid, session_id=session.session_id,
        session_ends_at=session.expires_at, resource=resource, claims=claims,
    )  # fmt: skip
    return token_response.token_response(context, client, issuer, grant, account)


GRANT = Grant(NAME, exchange, is_allowed_in_fapi=False)  # FAPI 2.0 Security Profile section 5.3.2.1
