"""The grants of the token endpoint, one file each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.contract.oauth.errors import InvalidAuthorizationDetails, UnauthorizedClient, UnsupportedGrantType
from app.contract.oauth.tokens import TokenRequest, TokenResponse
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.grants import (
    authorization_code,
    client_credentials,
    device_code,
    jwt_bearer,
    legacy_exchange,
    password,
    refresh_token,
    token_exchange,
)
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints import token_binding

Exchange = Callable[[Context, Application, Issuer, TokenRequest], TokenResponse]

GRANTS: Mapping[str, Exchange] = {
    authorization_code.NAME: authorization_code.exchange,
    refresh_token.NAME: refresh_token.exchange,
    client_credentials.NAME: client_credentials.exchange,
    device_code.NAME: device_code.exchange,
    password.NAME: password.exchange,
    token_exchange.NAME: token_exchange.exchange,
    legacy_exchange.NAME: legacy_exchange.exchange,
    jwt_bearer.NAME: jwt_bearer.exchange,
}

_WITH_DETAILS = (authorization_code.NAME, device_code.NAME, refresh_token.NAME)


def exchange(context: Context, client: Application, issuer: Issuer, req: TokenRequest) -> TokenResponse:
    """Exchange a grant for tokens, by its kind."""
    name = legacy_exchange.NAME if legacy_exchange.SPELLING.fullmatch(req.grant_type) else req.grant_type
    grant = GRANTS.get(name)
    if grant is None:
        raise UnsupportedGrantType
    if name not in client.settings.grant_types:
        raise UnauthorizedClient("This client may not use this grant.")
    if req.authorization_details is not None and req.grant_type not in _WITH_DETAILS:
        raise InvalidAuthorizationDetails("This grant has no authorization_details.")
    if name == password.NAME and client.settings.is_fapi:  # FAPI 2.0 Security Profile section 5.3.2.1
        raise UnauthorizedClient("This client may not use this grant.")
    token_binding.confirm_sender(context, client)
    return grant(context, client, issuer, req)
