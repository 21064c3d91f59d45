"""The client secret for Apple: a JWT that the private key of the connection signs.

See developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connections import ConnectionSettings
from app.identity.platform.outbound.outbound_http import ProviderUnavailable

_LIFETIME_SECONDS: Final = 300
_ALGORITHM: Final = "ES256"


def client_secret(settings: ConnectionSettings, private_key: str, now: datetime) -> str:
    """Return the client secret of a complete connection with Apple's issuer. Raises ProviderUnavailable."""
    apple = settings.apple
    if apple is None or not (apple.team_id and apple.key_identifier):
        text = "without team_id and key_identifier no client secret can be signed"
        raise ProviderUnavailable(
            text, check=ConnectionCheck.CONFIGURATION, expected="apple.team_id, apple.key_identifier"
        )
    issued_at = int(now.timestamp())
    claims = {
        "iss": apple.team_id, "iat": issued_at, "exp": issued_at + _LIFETIME_SECONDS, "aud": settings.issuer, "sub": settings.key,
    }  # fmt: skip
    header = {"alg": _ALGORITHM, "kid": apple.key_identifier}
    try:
        return jwt.encode(header, claims, ECKey.import_key(private_key), algorithms=[_ALGORITHM])
    except (JoseError, ValueError):
        raise ProviderUnavailable(
            "the private key signs no client secret",
            check=ConnectionCheck.CONFIGURATION,
            expected="apple_certificate: a private key for ES256, in PEM",
            received="a key that can’t be used",
        ) from None
