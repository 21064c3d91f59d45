"""How clients authenticate: names of the methods (RFC 7591 section 2, OpenID Connect Core section 9)."""

from typing import Any, Final, Literal

from app.contract.configuration_model import ConfigurationModel

AuthMethod = Literal[
    "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none",
]  # fmt: skip
"""The identity service has one entry for each in `client_authentication/registry.py`."""
AssertionAlg = Literal["RS256", "PS256", "ES256", "EdDSA", "HS256"]

SECRET_JWT: Final = "client_secret_jwt"
WITH_SECRET: Final = frozenset({"client_secret_basic", "client_secret_post", SECRET_JWT})
"""The methods of clients that have a secret."""
NEEDS_KEYS: Final = frozenset({"private_key_jwt"})
"""The methods of clients that register public keys."""
ALGORITHMS_OF: Final = {
    SECRET_JWT: frozenset({"HS256"}),
    "private_key_jwt": frozenset({"RS256", "PS256", "ES256", "EdDSA"}),
}
"""The signatures of each method that signs (RFC 7518 section 3.1)."""
LEAST_SIGNING_SECRET: Final = 32
"""Bytes of a secret that signs with HS256: as long as the digest (RFC 7518 section 3.2)."""


class AuthenticationSettings(ConfigurationModel):
    """How an application authenticates."""

    token_endpoint_auth_method: AuthMethod = "client_secret_basic"
    token_endpoint_auth_signing_alg: AssertionAlg | None = None
    jwks: dict[str, Any] | None = None
    jwks_uri: str | None = None

    @property
    def has_secret(self) -> bool:
        """Whether it has a `client_secret`, sent or to sign with."""
        return self.token_endpoint_auth_method in WITH_SECRET

    @property
    def is_public(self) -> bool:
        """Whether nothing authenticates it: PKCE is then required (RFC 9700 section 2.1.1)."""
        return self.token_endpoint_auth_method == "none"


def problem_of(settings: AuthenticationSettings, client_secret: str | None) -> str | None:
    """Return why an application with these settings and this secret could not authenticate, as `key: expected value`."""
    method, algorithm = settings.token_endpoint_auth_method, settings.token_endpoint_auth_signing_alg
    if client_secret is not None and not settings.has_secret:
        return f"client_secret: none, because token_endpoint_auth_method is {method}"
    if client_secret is not None and method == SECRET_JWT and len(client_secret.encode()) < LEAST_SIGNING_SECRET:
        return f"client_secret: at least {LEAST_SIGNING_SECRET} characters, because client_secret_jwt signs with it"
    if method in NEEDS_KEYS and settings.jwks is None and settings.jwks_uri is None:
        return f"jwks: its keys, or jwks_uri, because token_endpoint_auth_method is {method}"
    if algorithm is not None and algorithm not in ALGORITHMS_OF.get(method, ()):
        return f"token_endpoint_auth_signing_alg: an algorithm with which {method} signs"
    return None
