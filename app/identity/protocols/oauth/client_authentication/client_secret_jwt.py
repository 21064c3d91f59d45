"""client_secret_jwt: a JWT signed with the client's secret (OpenID Connect Core section 9), which is stored encrypted (decision 0210)."""

from __future__ import annotations

from typing import Final

from joserfc.jwk import OctKey

from app.identity.directory.tenants.keys import client_secrets
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.client_authentication import client_assertions
from app.identity.protocols.oauth.client_authentication.client_assertions import ClientAssertionRefused
from app.identity.protocols.oauth.client_authentication.credentials import Carrier, ClientCredentials
from app.identity.protocols.oauth.client_authentication.method import Method

ALGORITHMS: Final = ("HS256",)


def verify(context: Context, client: Application, presented: ClientCredentials) -> None:
    """Check the assertion against the client's secrets: the present one, and the former one for a while. Raises ClientAssertionRefused."""
    secrets = client_secrets.of(context.services.encryption, context.tenant.tenant_id, client, context.now)
    if not secrets:
        raise ClientAssertionRefused("is of a client whose secret must be rotated before it can sign")
    try:
        keys = tuple(OctKey.import_key(secret) for secret in secrets)
    except ValueError:  # the library takes no text of a public key for a secret
        raise ClientAssertionRefused("is of a client whose secret cannot sign") from None
    client_assertions.verify(context, client, presented.assertion, lambda _: keys, ALGORITHMS)


METHOD = Method("client_secret_jwt", Carrier.ASSERTION, verify, algorithms=ALGORITHMS)
