"""private_key_jwt: a JWT signed with a key of the client's `jwks` or `jwks_uri` (OpenID Connect Core section 9)."""

from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.client_authentication import client_assertions
from app.identity.protocols.oauth.client_authentication.client_assertions import ClientAssertionRefused
from app.identity.protocols.oauth.client_authentication.credentials import Carrier, ClientCredentials
from app.identity.protocols.oauth.client_authentication.method import Method
from app.identity.protocols.oauth.sender_constraints import client_keys


def verify(context: Context, client: Application, presented: ClientCredentials) -> None:
    """Check the assertion against the client's public keys. Raises ClientAssertionRefused."""
    if not client_keys.has_keys(client):
        raise ClientAssertionRefused("is of a client without registered keys")
    keys = client_keys.keys_of_client(context, client)
    client_assertions.verify(context, client, presented.assertion, keys, client_keys.algorithms(client))


METHOD = Method("private_key_jwt", Carrier.ASSERTION, verify, algorithms=client_keys.ALGORITHMS)
