"""Auth schemes, hosts, and access levels for tokens issued to applications (decision 0140)."""

from typing import Final

from app.kit.operations import auth, operation
from app.kit.operations.auth import Access, Auth, SchemeFacts


class AuthScheme(auth.BaseAuthScheme):
    """A credential that a request presents."""

    API_KEY = SchemeFacts(
        "API key",
        {
            "type": "apiKey",
            "in": "query",
            "name": "apikey",
            "description": "The tenant’s API key. It names the tenant and isn’t secret: apps and pages can contain it. Find it as "
            "`api_key` of the tenant in the configuration file, or in the output of `gatehouse apply`. Send it as query parameter "
            "`apikey`, or as header `X-Gatehouse-ApiKey`.",
        },
    )
    API_SECRET = SchemeFacts(
        "API secret",
        {
            "type": "apiKey",
            "in": "header",
            "name": "X-Gatehouse-ApiSecret",
            "description": "The tenant’s API secret, for your servers only. Find it as `api_secret` of the tenant in the "
            "configuration file, or in the output of `gatehouse apply`. Send it as this header, or as query parameter `apisecret`.",
        },
    )
    ACCESS_TOKEN = SchemeFacts(
        "Access token",
        {
            "type": "http",
            "scheme": "bearer",
            "description": "The access token of a signed-in account: `access_token` in the response of a sign-in or of the token "
            "endpoint. Send it as `Authorization: Bearer …`; the query parameter or body member `access_token` works, too. If the token "
            "was issued to an application, `x-application-access` says what it needs.",
        },
        is_delegated=True,
    )
    MACHINE_TOKEN = SchemeFacts(
        "Machine token",
        {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "An access token for your server. Get it from `POST /service/oauth/token` with the grant `client_credentials`. "
            "The application needs the operation’s scope, and to write what gives more, such as a client with other scopes, those scopes "
            "or `all`. Send it as `Authorization: Bearer …`.",
        },
        has_scopes=True,
    )
    SECOND_FACTOR_TOKEN = SchemeFacts(
        "Second factor token",
        {
            "type": "apiKey",
            "in": "query",
            "name": "secondfactorauthenticationtoken",
            "description": "The `SecondFactorAuthenticationToken` of a challenge.",
        },
    )
    CLIENT = SchemeFacts(
        "Client credentials",
        {
            "type": "http",
            "scheme": "basic",
            "description": "An application’s `client_id` and `client_secret`, from the response that created it. Send them as HTTP Basic "
            "authentication or in the body, or use the client authentication method that the application is registered with.",
        },
    )
    HUB = SchemeFacts("Hub")
    QUERY_CLIENT_ID = SchemeFacts(
        "Client ID",
        {
            "type": "apiKey",
            "in": "query",
            "name": "clientID",
            "description": "The client ID of an application with the grant `client_credentials`. Send it with `clientSecret`.",
        },
    )
    QUERY_CLIENT_SECRET = SchemeFacts(
        "Client secret",
        {
            "type": "apiKey",
            "in": "query",
            "name": "clientSecret",
            "description": "The application’s client secret. The application needs the operation’s scope, as for a machine token.",
        },
        has_scopes=True,
    )


# In declarations: `auth=API_KEY & API_SECRET | MACHINE_TOKEN`.
API_KEY = Auth.of(AuthScheme.API_KEY)
API_SECRET = Auth.of(AuthScheme.API_SECRET)
ACCESS_TOKEN = Auth.of(AuthScheme.ACCESS_TOKEN)
MACHINE_TOKEN = Auth.of(AuthScheme.MACHINE_TOKEN)
SECOND_FACTOR_TOKEN = Auth.of(AuthScheme.SECOND_FACTOR_TOKEN)
CLIENT = Auth.of(AuthScheme.CLIENT)
HUB = Auth.of(AuthScheme.HUB)
_QUERY_CLIENT = Auth.of(AuthScheme.QUERY_CLIENT_ID) & Auth.of(AuthScheme.QUERY_CLIENT_SECRET)
ORGANIZATION_MANAGEMENT = API_KEY & API_SECRET | MACHINE_TOKEN | _QUERY_CLIENT
"""The credentials that admit a tenant's servers to operations on organizations."""


class Host(operation.BaseHost):
    """Where an operation is served."""

    API = "api"
    TENANT = "tenant"
    INSIDE = "inside"  # for calls of the hub; no public host


ACCOUNT_READ: Final = "account:read"
ACCOUNT_WRITE: Final = "account:write"
INTERFACE_SCOPES: Final = (ACCOUNT_READ, ACCOUNT_WRITE)

CREATES_TOKENS: Final = "token:create"
"""The scope of operations that return a token or code by which a person signs in, or changes a credential."""
READS_TOKENS: Final = "token:read"
"""The scope with which a profile has the tokens of its provider."""

NEVER: Final = Access(None)
STANDARD: Final = Access("")
"""The access level for any token: an OAuth specification requires it (userinfo), or the operation only revokes the token."""
READ: Final = Access(ACCOUNT_READ)
WRITE: Final = Access(ACCOUNT_WRITE)
SENSITIVE: Final = Access(None, is_sensitive=True)
"""A change on a page: a visit opens it after a recent authentication, and no token."""
CREDENTIALS: Final = Access(ACCOUNT_WRITE, is_sensitive=True)
"""Credentials, identifiers, factors, backup codes, passkeys, PIN, linked identities and deletion."""
