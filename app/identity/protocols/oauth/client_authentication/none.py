"""none: a public client, which sends its `client_id` alone (RFC 6749 section 2.1); PKCE protects its codes."""

from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.client_authentication.credentials import Carrier, ClientCredentials
from app.identity.protocols.oauth.client_authentication.method import Method


def verify(context: Context, client: Application, presented: ClientCredentials) -> None:
    """Accept the client: there is nothing to verify."""


METHOD = Method("none", Carrier.NOTHING, verify)
