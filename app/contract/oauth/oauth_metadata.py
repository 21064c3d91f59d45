"""Discovery, key sets and userinfo (OpenID Connect Core and Discovery, RFC 8414)."""

from typing import Annotated

from pydantic import ConfigDict

from app.contract.auth import ACCESS_TOKEN, STANDARD, Host
from app.contract.catalogue import operation
from app.contract.error_profiles import OAUTH
from app.contract.oauth import oauth_errors
from app.contract.oauth.oauth_token_operations import OAuthWire, as_named
from app.kit.operations.auth import Cors
from app.kit.operations.wire import Document, From


class IssuerRequest(OAuthWire):
    """The tenant-wide issuer, or that of an application."""

    app: Annotated[str | None, From.PATH] = None


_AUTHORIZATION_SERVER_ALIASES = (
    "/.well-known/oauth-authorization-server/service/oidc/{app}",
    "/.well-known/oauth-authorization-server/service/oauth/{app}",
    "/oidc/.well-known/oauth-authorization-server",
    "/oauth/.well-known/oauth-authorization-server",
    "/oidc/{app}/.well-known/oauth-authorization-server",
    "/oauth/{app}/.well-known/oauth-authorization-server",
)  # fmt: skip
discovery = operation(
    "oauth_metadata.discovery", "GET /.well-known/openid-configuration", IssuerRequest, Document, error_profile=OAUTH, on=Host.TENANT,
    cors=Cors.ANY, also=("/service/oidc/{app}/.well-known/openid-configuration", "/.well-known/openid-configuration/service/oidc/{app}"),
    errors=(oauth_errors.UnknownApplication,), is_cached=True,
    summary="Get the OpenID configuration",
    description="Returns the endpoints, grants, scopes, claims and algorithms of the tenant (OpenID Connect Discovery). Point your "
    "OpenID Connect library at the issuer, and it reads this itself.",
)  # fmt: skip

authorization_server = operation(
    "oauth_metadata.authorization_server", "GET /.well-known/oauth-authorization-server", IssuerRequest, Document, error_profile=OAUTH,
    on=Host.TENANT, cors=Cors.ANY, also=_AUTHORIZATION_SERVER_ALIASES, errors=(oauth_errors.UnknownApplication,), is_cached=True,
    summary="Get the authorization server metadata",
    description="Returns the metadata of the tenant as an OAuth 2.0 authorization server (RFC 8414).",
)  # fmt: skip

jwks = operation(
    "oauth_metadata.jwks", "GET /service/oidc/jwks", IssuerRequest, Document, error_profile=OAUTH, on=Host.TENANT, cors=Cors.ANY,
    also=("/service/oidc/{app}/jwks", "/service/oauth/jwks"), errors=(oauth_errors.UnknownApplication,), is_cached=True,
    summary="Get the signing keys",
    description="Returns the public keys that sign the tenant’s tokens, as a JSON Web Key Set. Cache it, and read it again when a "
    "token has an unknown `kid`.",
)  # fmt: skip


class Address(OAuthWire):
    """A postal address (OpenID Connect Core, section 5.1.1)."""

    street_address: str | None = None
    locality: str | None = None
    region: str | None = None
    postal_code: str | None = None
    country: str | None = None


class RoleContextClaim(OAuthWire):
    """A role context of the account that hasn't expired."""

    context: str
    roles: list[str]
    additional_permissions: list[str]
    expiration: str | None


class UserinfoResponse(OAuthWire):
    """Claims about a person (OpenID Connect Core, section 5.1) that the scope and the parameter `claims` request."""

    model_config = ConfigDict(alias_generator=as_named)

    sub: str
    name: str | None = None
    family_name: str | None = None
    given_name: str | None = None
    middle_name: str | None = None
    nickname: str | None = None
    preferred_username: str | None = None
    profile: str | None = None
    picture: str | None = None
    website: str | None = None
    gender: str | None = None
    birthdate: str | None = None
    zoneinfo: str | None = None
    locale: str | None = None
    updated_at: int | None = None
    email: str | None = None
    email_verified: bool | None = None
    phone_number: str | None = None
    phone_number_verified: bool | None = None
    address: Address | None = None
    roles: list[str] | None = None
    permissions: list[str] | None = None  # of roles and role contexts together
    role_contexts: list[RoleContextClaim] | None = None
    org_id: str | None = None  # the organization that the access token is for
    org_name: str | None = None
    org_roles: list[str] | None = None  # the account's roles there
    org_permissions: list[str] | None = None  # of these roles, with the scope `permissions`


userinfo = operation(
    "oauth_metadata.userinfo", "GET /service/oidc/userinfo", IssuerRequest, UserinfoResponse, auth=ACCESS_TOKEN, access=STANDARD,
    error_profile=OAUTH, on=Host.TENANT, cors=Cors.CLIENT,
    also=("POST /service/oidc/userinfo", "/service/oidc/{app}/userinfo", "POST /service/oidc/{app}/userinfo"),
    answers=("application/json", "application/jwt"), errors=(oauth_errors.InsufficientScope,),
    summary="Get the claims of the signed-in user",
    description="Returns the claims about the user that the scope of the access token allows. If the application asked for signed "
    "responses, the response is a JWT.",
)  # fmt: skip
