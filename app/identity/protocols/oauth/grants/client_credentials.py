"""Grant client_credentials (RFC 6749 section 4.4): a token for the client itself, without an account and without a refresh token."""

from __future__ import annotations

from app.contract.auth import INTERFACE_SCOPES
from app.contract.oauth.oauth_token_operations import TokenRequest, TokenResponse
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import refusal_log, resource_indicators
from app.identity.protocols.oauth.grants.grant import Grant
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import token_response
from app.identity.protocols.oauth.tokens.grant_result import GrantResult

NAME = "client_credentials"
_ACCOUNT_SCOPES = frozenset({"openid", "offline_access", *INTERFACE_SCOPES})


def exchange(
    context: Context, client: Application, issuer: Issuer, req: TokenRequest, confirmation: Confirmation
) -> TokenResponse:
    """Issue a token for the client, which must be confidential."""
    allowed, scope = client.scopes - _ACCOUNT_SCOPES, tuple(dict.fromkeys((req.scope or "").split()))
    if unknown := set(scope) - allowed:
        raise refusal_log.scope_of_another(unknown)
    scope = scope or tuple(name for name in context.tenant.settings.default_scopes if name in allowed)
    resource = resource_indicators.resolve(context, client, None, req.resource)
    grant = GrantResult(kind=NAME, scope=scope, confirmation=confirmation, resource=resource)
    return token_response.token_response(context, client, issuer, grant, None)


GRANT = Grant(NAME, exchange, is_confidential=True)
