"""Auth schemes, hosts, and access levels for tokens issued to applications (decisions/0140)."""

from typing import Final

from app.kit import auth, operation
from app.kit.auth import Access, Auth, SchemeFacts


class AuthScheme(auth.AuthScheme):
    """A credential that a request presents."""

    API_KEY = SchemeFacts(
        "K",
        {
            "type": "apiKey",
            "in": "query",
            "name": "apikey",
            "description": "The tenant's API key; also as header X-Gatehouse-ApiKey.",
        },
    )
    API_SECRET = SchemeFacts(
        "S",
        {
            "type": "apiKey",
            "in": "header",
            "name": "X-Gatehouse-ApiSecret",
            "description": "The tenant's API secret; also as query apisecret.",
        },
    )
    ACCESS_TOKEN = SchemeFacts(
        "U",
        {
            "type": "http",
            "scheme": "bearer",
            "description": "An account's access token; also as query or body member access_token. "
            "A token that was issued to an application opens the operations that `x-application-access` allows.",
        },
        is_delegated=True,
    )
    MACHINE_TOKEN = SchemeFacts(
        "M",
        {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "A machine token of client_credentials.",
        },
        has_scopes=True,
    )
    SECOND_FACTOR_TOKEN = SchemeFacts("T", {"type": "apiKey", "in": "query", "name": "secondfactorauthenticationtoken"})
    CLIENT = SchemeFacts(
        "C", {"type": "http", "scheme": "basic", "description": "client_id and client_secret; also as body members."}
    )
    HUB = SchemeFacts("H")
    QUERY_CLIENT_ID = SchemeFacts(
        "I",
        {
            "type": "apiKey",
            "in": "query",
            "name": "clientID",
            "description": "The client id of an application with the grant client_credentials, beside its clientSecret.",
        },
    )
    QUERY_CLIENT_SECRET = SchemeFacts(
        "P",
        {
            "type": "apiKey",
            "in": "query",
            "name": "clientSecret",
            "description": "The client's secret. The client needs the scope of the operation, as a machine token does.",
        },
        has_scopes=True,
    )


K, S, U, M, T, C, H, _CLIENT_ID, _CLIENT_SECRET = map(Auth.of, AuthScheme)
"""The schemes under the letters of the interface's tables, for declarations: `auth=K & S | M`."""
O = K & S | M | _CLIENT_ID & _CLIENT_SECRET  # noqa: E741 - the letter of the interface's tables
"""The servers of a tenant, at the operations of organizations."""


class Host(operation.Host):
    """Where an operation is served."""

    API = "api"
    TENANT = "tenant"
    INSIDE = "inside"  # for calls of the hub; no public host


ACCOUNT_READ: Final = "account:read"
ACCOUNT_WRITE: Final = "account:write"
INTERFACE_SCOPES: Final = (ACCOUNT_READ, ACCOUNT_WRITE)

NEVER: Final = Access(None)
STANDARD: Final = Access("")
"""Any token: an OAuth specification requires it (userinfo), or the operation only revokes the token."""
READ: Final = Access(ACCOUNT_READ)
WRITE: Final = Access(ACCOUNT_WRITE)
CREDENTIALS: Final = Access(ACCOUNT_WRITE, is_sensitive=True)
"""Credentials, identifiers, factors, backup codes, passkeys, PIN, linked identities and deletion."""
