"""Compares the secrets that a client may present with their stored digests."""

from __future__ import annotations

import hmac

from app.contract.oauth.oauth_errors import InvalidClient, UnauthorizedClient
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.client_authentication.credentials import ClientCredentials
from app.kit import randomness

_DUMMY_HASH = randomness.digest(randomness.token())  # compared for an unknown client, so that timing reveals nothing


def verify(context: Context, client: Application, presented: ClientCredentials) -> None:
    """Check the secret.

    Raises:
        UnauthorizedClient: it is wrong, at an address that names the application and at those of machine tokens.
        InvalidClient: it is wrong, at another address.
    """
    if not is_right(context, client, presented.secrets):
        is_standard = issuers.is_standard_endpoint(context.raw)
        raise InvalidClient("The client_secret is not valid.") if is_standard else UnauthorizedClient()


def is_right(context: Context, client: Application | None, secrets: tuple[str, ...]) -> bool:
    """Return whether one of these is a secret of the client; the time does not reveal whether the client exists."""
    stored = client.secret_hashes(context.now) if client is not None else ()
    expected = [element.encode() for element in stored or (_DUMMY_HASH,)]
    digests = [randomness.digest(secret).encode() for secret in secrets or ("",)]
    is_match = False
    for digest in digests:
        for item in expected:
            is_match |= hmac.compare_digest(digest, item)
    return is_match and bool(stored) and bool(secrets)
