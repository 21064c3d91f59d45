"""Token, introspection and revocation endpoints (RFC 6749, RFC 7662, RFC 7009)."""

from typing import Annotated, Any

from pydantic import ConfigDict

from app.contract.auth import API_KEY, CLIENT, Host
from app.contract.catalogue import HASHES_SECRETS, operation
from app.contract.error_profiles import OAUTH
from app.contract.oauth import oauth_errors
from app.contract.oauth.authorization_details import StatedDetails
from app.contract.sessions.session_operations import Actor
from app.kit.operations.auth import Cors
from app.kit.operations.wire import Document, From, Wire


def as_named(name: str) -> str:
    """Return the name unchanged: OAuth uses snake case too."""
    return name


class OAuthWire(Wire):
    """A request or a response in OAuth's spelling; members that are None are omitted."""

    model_config = ConfigDict(alias_generator=as_named)
    omits_none = True


class ClientRequest(OAuthWire):
    """Parameters of every client request; client authentication happens before the handler."""

    app: Annotated[str | None, From.PATH] = None
    client_id: str | None = None
    client_secret: str | None = None
    client_assertion_type: str | None = None  # RFC 7521 section 4.2
    client_assertion: str | None = None


class TokenRequest(ClientRequest):
    """RFC 6749 sections 4.1.3, 4.3.2, 4.4.2 and 6; RFC 7636 section 4.5; extension grants."""

    grant_type: str
    code: str | None = None
    redirect_uri: str | None = None
    code_verifier: str | None = None
    refresh_token: str | None = None
    device_code: str | None = None  # RFC 8628 section 3.4
    subject_token: str | None = None  # RFC 8693 section 2.1, as the next four
    subject_token_type: str | None = None
    actor_token: str | None = None
    actor_token_type: str | None = None
    requested_token_type: str | None = None
    token: str | None = None  # of the interface's own exchange
    assertion: str | None = None  # RFC 7523 section 2.1
    scope: str | None = None
    audience: str | None = None
    resource: str | None = None  # RFC 8707 section 2.2
    authorization_details: StatedDetails | None = None  # RFC 9396 section 6
    username: str | None = None
    password: str | None = None
    response_type: str | None = None  # ignored; older clients send `token`


class TokenResponse(OAuthWire):
    """A token response (RFC 6749, section 5.1). `expire_in` is the same lifetime as `expires_in`, as text."""

    access_token: str
    token_type: str = "Bearer"
    expires_in: int  # seconds
    expire_in: str  # the same, as text
    refresh_token: str | None = None
    id_token: str | None = None
    issued_token_type: str | None = None  # RFC 8693 section 2.2.1
    scope: str | None = None
    authorization_details: list[dict[str, Any]] | None = None  # RFC 9396 section 7


GRANT_ERRORS = (
    oauth_errors.InvalidRequest, oauth_errors.InvalidGrant, oauth_errors.UnauthorizedClient, oauth_errors.UnsupportedGrantType,
    oauth_errors.InvalidScope,
    oauth_errors.InvalidTarget, oauth_errors.AuthorizationPending, oauth_errors.PollSlower, oauth_errors.AccessDenied,
    oauth_errors.ExpiredDeviceCode,
    oauth_errors.InvalidDpopProof, oauth_errors.UseDpopNonce,
    oauth_errors.InvalidAuthorizationDetails,
)  # fmt: skip

token = operation(
    "oauth_tokens.token", "POST /api/oidc/token", TokenRequest, TokenResponse, auth=CLIENT, error_profile=OAUTH, on=Host.TENANT,
    cors=Cors.CLIENT, also=("/api/oidc/{app}/token",), heavy_work=HASHES_SECRETS, errors=GRANT_ERRORS,
    summary="Get tokens",
    description="Exchanges a grant for tokens: an authorization code, a refresh token, a device code, client credentials, a JWT "
    "assertion, or another token (token exchange). `grant_type` says which; each grant has its own parameters. An "
    "`id_token` is in the response if `openid` is in the scope. A code or a refresh token works once; a rotated refresh "
    "token comes with the response. Within a public client’s reuse interval of 10 seconds, a replaced refresh token gets up to three "
    "further pairs.",
)  # fmt: skip

token_with_key = operation(
    "oauth_tokens.token_with_key", "POST /api/oauth/{app}/token", TokenRequest, TokenResponse, auth=CLIENT & API_KEY, error_profile=OAUTH,
    on=Host.TENANT, cors=Cors.CLIENT, heavy_work=HASHES_SECRETS, errors=GRANT_ERRORS,
    summary="Get tokens as an OAuth 2.0 client",
    description="Exchanges a grant for tokens at the address of one application, which the path and the API key name. New clients use "
    "`POST /api/oidc/token`.",
)  # fmt: skip


class IntrospectionRequest(ClientRequest):
    token: str
    token_type_hint: str | None = None


class IntrospectionResponse(OAuthWire):
    """An introspection response (RFC 7662, section 2.2), with the claims that a workflow or the token hook set."""

    model_config = ConfigDict(alias_generator=as_named, extra="allow")

    active: bool
    iss: str | None = None
    sub: str | None = None
    aud: list[str] | None = None
    client_id: str | None = None
    cid: str | None = None
    azp: str | None = None
    scope: str | None = None
    scp: list[str] | None = None
    gty: str | None = None
    token_type: str | None = None
    iat: int | None = None
    nbf: int | None = None
    exp: int | None = None
    jti: str | None = None
    org_id: str | None = None  # the organization that the token is for
    org_name: str | None = None
    org_roles: list[str] | None = None  # the account's roles there
    org_permissions: list[str] | None = None  # of these roles, with the scope `permissions`
    cnf: dict[str, str] | None = None  # what the sender must hold (RFC 7800, RFC 9449 section 6.2)
    authorization_details: list[dict[str, Any]] | None = None  # RFC 9396 section 9.2
    act: Actor | None = None  # the actor on behalf of `sub` (RFC 8693 section 4.1)


INTROSPECTION_JWT = "application/token-introspection+jwt"
"""A caller that accepts it gets the response as a signed JWT (RFC 9701 section 4)."""

introspect = operation(
    "oauth_tokens.introspect", "POST /api/oidc/introspect", IntrospectionRequest, IntrospectionResponse, auth=CLIENT, error_profile=OAUTH,
    on=Host.TENANT, also=("/api/oidc/{app}/introspect", "/api/oauth/{app}/introspect"),
    answers=("application/json", INTROSPECTION_JWT),
    summary="Introspect a token",
    description="Tells whether an access or refresh token is active, and returns its claims (RFC 7662). Use it in APIs that get "
    "opaque access tokens. An unknown, expired or revoked token is `{\"active\": false}`.",
)  # fmt: skip


class RevocationRequest(ClientRequest):
    """`refresh_token` is the older spelling of `token`."""

    token: str | None = None
    token_type_hint: str | None = None
    refresh_token: str | None = None


revoke = operation(
    "oauth_tokens.revoke", "POST /api/oidc/revoke", RevocationRequest, Document, auth=CLIENT, error_profile=OAUTH, on=Host.TENANT,
    cors=Cors.CLIENT, also=("/api/oidc/{app}/revoke", "/api/oauth/{app}/revoke"), answers=(),
    summary="Revoke a token",
    description="Revokes an access or refresh token (RFC 7009). Revoking a refresh token ends its whole chain. The response is 200 for "
    "any token, also for one that doesn’t exist.",
)  # fmt: skip


class MachineTokenRequest(ClientRequest):
    grant_type: str
    audience: str | None = None
    scope: str | None = None


machine_token = operation(
    "oauth_tokens.machine", "POST /service/oauth/token", MachineTokenRequest, TokenResponse, auth=CLIENT,
    error_profile=OAUTH, on=Host.TENANT, errors=GRANT_ERRORS,
    summary="Get a machine token",
    description="Returns an access token for the management operations, for an application with the grant `client_credentials`. Send "
    "it as `Authorization: Bearer …`. It lasts an hour by default; get a new one before it expires.",
)  # fmt: skip

introspect_machine = operation(
    "oauth_tokens.introspect_machine", "POST /service/oauth/introspect", IntrospectionRequest, IntrospectionResponse, auth=CLIENT,
    error_profile=OAUTH, on=Host.TENANT, answers=("application/json", INTROSPECTION_JWT),
    summary="Introspect a machine token",
    description="Tells whether a machine token is active, and returns its claims.",
)  # fmt: skip


class Revoked(Wire):
    """An empty object."""


revoke_machine = operation(
    "oauth_tokens.revoke_machine", "POST /service/oauth/revoke", RevocationRequest, Revoked, auth=CLIENT,
    error_profile=OAUTH, on=Host.TENANT,
    summary="Revoke a machine token",
    description="Revokes a machine token. The operations refuse it from then on.",
)  # fmt: skip
