"""The grants of the token endpoint, one file each."""

from __future__ import annotations

from collections.abc import Mapping

from app.contract.oauth.oauth_errors import InvalidAuthorizationDetails, UnauthorizedClient, UnsupportedGrantType
from app.contract.oauth.oauth_token_operations import TokenRequest, TokenResponse
from app.identity.directory.tenants import registered_applications
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
from app.identity.protocols.oauth.grants.grant import Grant
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints import token_binding

GRANTS: Mapping[str, Grant] = {
    grant.name: grant
    for grant in (
        authorization_code.GRANT,
        refresh_token.GRANT,
        client_credentials.GRANT,
        device_code.GRANT,
        password.GRANT,
        token_exchange.GRANT,
        legacy_exchange.GRANT,
        jwt_bearer.GRANT,
    )
}
_OTHER_SPELLINGS = [(grant.other_spelling, grant) for grant in GRANTS.values() if grant.other_spelling is not None]


def exchange(context: Context, client: Application, issuer: Issuer, req: TokenRequest) -> TokenResponse:
    """Exchange a grant for tokens, by its kind."""
    grant = _named(req.grant_type)
    if grant is None:
        raise UnsupportedGrantType
    if grant.name not in client.settings.grant_types:
        raise UnauthorizedClient("This client may not use this grant.")
    if grant.is_confidential and client.settings.is_public:
        raise UnauthorizedClient("A public client may not use this grant.")
    if req.authorization_details is not None and not grant.takes_details:
        raise InvalidAuthorizationDetails("This grant has no authorization_details.")
    if client.settings.is_fapi and not grant.is_allowed_in_fapi:
        raise UnauthorizedClient("This client may not use this grant.")
    response = grant.exchange(context, client, issuer, req, token_binding.confirm_sender(context, client))
    if grant.shows_use:
        registered_applications.touch(context, client)
    return response


def _named(grant_type: str) -> Grant | None:
    spelt = (grant for spelling, grant in _OTHER_SPELLINGS if spelling.fullmatch(grant_type))
    return GRANTS.get(grant_type) or next(spelt, None)
