"""Grant client_credentials (RFC 6749 section 4.4): a token for the client itself, without an account and without a refresh token."""

from __future__ import annotations

from app.contract.auth import INTERFACE_SCOPES
from app.contract.errors_oauth import InvalidScope, UnauthorizedClient
from app.contract.oauth_tokens import TokenRequest, TokenResponse
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuing, resources
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.issuing import Grant

NAME = "client_credentials"
_ACCOUNT_SCOPES = frozenset({"openid", "offline_access", *INTERFACE_SCOPES})


def exchange(context: Context, client: Application, issuer: Issuer, req: TokenRequest) -> TokenResponse:
    """Issue a token for the client; only a confidential client may have one."""
    if client.settings.is_public:
        raise UnauthorizedClient("A public client may not use this grant.")
    wanted = tuple(dict.fromkeys((req.scope or "").split()))
    if not set(wanted) <= client.scopes - _ACCOUNT_SCOPES:
        raise InvalidScope
    resource = resources.wanted(context, client, None, req.resource)
    return issuing.answer(context, client, issuer, Grant(NAME, wanted, resource=resource), None)
