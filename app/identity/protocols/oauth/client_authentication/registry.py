"""The methods of client authentication: what a client may be registered for, what is accepted, and what the metadata names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.identity.protocols.oauth.client_authentication import (
    client_secret_basic,
    client_secret_jwt,
    client_secret_post,
    none,
    private_key_jwt,
)
from app.identity.protocols.oauth.client_authentication.method import Method

METHODS: Final[Mapping[str, Method]] = {
    one.METHOD.name: one.METHOD
    for one in (client_secret_basic, client_secret_post, client_secret_jwt, private_key_jwt, none)
}


_OPEN_ENDPOINTS: Final = ("token_endpoint", "revocation_endpoint")
_CLOSED_ENDPOINTS: Final = ("introspection_endpoint",)  # not for public clients (RFC 7662 section 2.1)


def metadata() -> dict[str, list[str]]:
    """Return the members for each endpoint (RFC 8414 section 2). Pushed requests have those of the token endpoint (RFC 9126 section 5)."""
    algorithms = list(dict.fromkeys(algorithm for one in METHODS.values() for algorithm in one.algorithms))
    members = {}
    for endpoint in (*_OPEN_ENDPOINTS, *_CLOSED_ENDPOINTS):
        is_open = endpoint in _OPEN_ENDPOINTS
        members[f"{endpoint}_auth_methods_supported"] = [
            name for name in METHODS if is_open or name != none.METHOD.name
        ]
        members[f"{endpoint}_auth_signing_alg_values_supported"] = algorithms
    return members
