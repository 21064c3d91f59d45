"""The token, introspection, revocation, metadata and userinfo endpoints."""

from __future__ import annotations

from app.contract.oauth import authorization_operations, oauth_metadata, oauth_token_operations
from app.contract.oauth.oauth_errors import InvalidClient
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import grants, issuers, rate_limits
from app.identity.protocols.oauth.authorize import authorization_checks, device_codes, pushed
from app.identity.protocols.oauth.claims import account_claims
from app.identity.protocols.oauth.endpoints import metadata
from app.identity.protocols.oauth.sender_constraints import token_binding
from app.identity.protocols.oauth.tokens import introspection, introspection_jwts, machine_tokens
from app.kit.operations.wire import Document


@oauth_token_operations.token.implements
@oauth_token_operations.token_with_key.implements
def token(context: Context, req: oauth_token_operations.TokenRequest) -> oauth_token_operations.TokenResponse:
    client = _client(context)
    _create_missing_keys(context, client)
    return grants.exchange(context, client, issuers.requested_issuer(context, client), req)


@authorization_operations.push.implements
def push_authorization_request(
    context: Context, req: authorization_operations.PushedRequest
) -> authorization_operations.PushedResponse:
    return pushed.push(
        context, _client(context), req, (*authorization_checks.CLIENT_CHECKS, *authorization_checks.PARAMETER_CHECKS)
    )


@authorization_operations.device.implements
def begin_device(
    context: Context, req: authorization_operations.DeviceRequest
) -> authorization_operations.DeviceResponse:
    return device_codes.issue(context, _client(context), req)


@oauth_token_operations.introspect.implements
@oauth_token_operations.introspect_machine.implements
def introspect(
    context: Context, req: oauth_token_operations.IntrospectionRequest
) -> oauth_token_operations.IntrospectionResponse | Document:
    client = _client(context)
    response = introspection.introspect(context, client, req)
    return (
        introspection_jwts.signed(context, client, response) if introspection_jwts.is_requested(context) else response
    )


@oauth_token_operations.revoke.implements
def revoke(context: Context, req: oauth_token_operations.RevocationRequest) -> Document:
    introspection.revoke(context, _client(context), req)
    return Document(b"", media_type="")


@oauth_token_operations.machine_token.implements
def machine_token(
    context: Context, req: oauth_token_operations.MachineTokenRequest
) -> oauth_token_operations.TokenResponse:
    client = _client(context)
    context.services.signing_keys.current(context.work)
    return machine_tokens.issue(context, client, req, token_binding.confirm_sender(context, client))


@oauth_token_operations.revoke_machine.implements
def revoke_machine(context: Context, req: oauth_token_operations.RevocationRequest) -> oauth_token_operations.Revoked:
    introspection.revoke(context, _client(context), req)
    return oauth_token_operations.Revoked()


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
