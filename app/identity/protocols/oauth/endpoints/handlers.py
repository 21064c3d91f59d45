"""Handlers of the token, introspection, revocation, metadata and userinfo endpoints."""

from __future__ import annotations

from app.contract.applications.file import DEVICE_GRANT
from app.contract.oauth import authorization as authorization_contract
from app.contract.oauth import metadata as oauth_metadata
from app.contract.oauth import tokens as contract
from app.contract.oauth.errors import InvalidClient
from app.identity.directory.tenants import registered_applications
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import grants, issuers, rate_limits
from app.identity.protocols.oauth.authorize import checks as authorization_checks
from app.identity.protocols.oauth.authorize import device_codes, pushed
from app.identity.protocols.oauth.claims import account as account_claims
from app.identity.protocols.oauth.endpoints import metadata
from app.identity.protocols.oauth.sender_constraints import token_binding
from app.identity.protocols.oauth.tokens import introspection, introspection_jwts, machine_tokens
from app.kit.operations.wire import Document

_BY_A_PERSON = ("refresh_token", DEVICE_GRANT)
"""Grants that show that a person uses the application; the authorization endpoint sees the rest of them."""


@contract.token.implements
@contract.token_with_key.implements
def token(context: Context, req: contract.TokenRequest) -> contract.TokenResponse:
    client = _client(context)
    _create_missing_keys(context, client)
    response = grants.exchange(context, client, issuers.at(context, client), req)
    if req.grant_type in _BY_A_PERSON:
        registered_applications.touch(context, client)
    return response


@authorization_contract.push.implements
def push_authorization_request(
    context: Context, req: authorization_contract.PushedRequest
) -> authorization_contract.PushedResponse:
    return pushed.push(
        context, _client(context), req, (*authorization_checks.CLIENT_CHECKS, *authorization_checks.PARAMETER_CHECKS)
    )


@authorization_contract.device.implements
def start_device(context: Context, req: authorization_contract.DeviceRequest) -> authorization_contract.DeviceResponse:
    return device_codes.issue(context, _client(context), req)


@contract.introspect.implements
@contract.introspect_machine.implements
def introspect(context: Context, req: contract.IntrospectionRequest) -> contract.IntrospectionResponse | Document:
    client = _client(context)
    response = introspection.introspect(context, client, req)
    return (
        introspection_jwts.signed(context, client, response) if introspection_jwts.is_requested(context) else response
    )


@contract.revoke.implements
def revoke(context: Context, req: contract.RevocationRequest) -> Document:
    introspection.revoke(context, _client(context), req)
    return Document(b"", media_type="")


@contract.machine_token.implements
def machine_token(context: Context, req: contract.MachineTokenRequest) -> contract.TokenResponse:
    client = _client(context)
    context.services.signing_keys.current(context.work)
    return machine_tokens.issue(context, client, req, token_binding.confirm_sender(context, client))


@contract.revoke_machine.implements
def revoke_machine(context: Context, req: contract.RevocationRequest) -> contract.Revoked:
    introspection.revoke(context, _client(context), req)
    return contract.Revoked()


@oauth_metadata.discovery.implements
@oauth_metadata.authorization_server.implements
def read_metadata(context: Context, req: oauth_metadata.IssuerRequest) -> Document:
    return metadata.document(context, metadata.issuer_at(context, req.app))


@oauth_metadata.jwks.implements
def read_keys(context: Context, req: oauth_metadata.IssuerRequest) -> Document:
    metadata.issuer_at(context, req.app)
    return metadata.key_set(context)


@oauth_metadata.userinfo.implements
def read_userinfo(context: Context, req: oauth_metadata.IssuerRequest) -> oauth_metadata.UserinfoResponse | Document:
    return account_claims.userinfo(context, req.app)


def _client(context: Context) -> Application:
    """Return the authenticated client and count the request against its rate limit."""
    if context.client is None:
        raise InvalidClient
    rate_limits.count_client_request(context, context.client)
    return context.client


def _create_missing_keys(context: Context, client: Application) -> None:
    """Create the tenant's first keys, in a separate transaction, before this one writes."""
    context.services.signing_keys.current(context.work, *client.settings.algorithms)
