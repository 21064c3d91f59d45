"""Lists the methods of client authentication, for registration, for requests and for the metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from app.identity.protocols.oauth.client_authentication import (
    client_secret_basic,
    client_secret_jwt,
    client_secret_post,
    none,
    private_key_jwt,
    self_signed_tls_client_auth,
    tls_client_auth,
)
from app.identity.protocols.oauth.client_authentication.method import Method
from app.settings import Settings

_MODULES: Final = (
    client_secret_basic, client_secret_post, client_secret_jwt, private_key_jwt, tls_client_auth, self_signed_tls_client_auth, none,
)  # fmt: skip
METHODS: Final[Mapping[str, Method]] = {module.METHOD.name: module.METHOD for module in _MODULES}
_OPEN_ENDPOINTS: Final = ("token_endpoint", "revocation_endpoint")
_CLOSED_ENDPOINTS: Final = ("introspection_endpoint",)  # not for public clients (RFC 7662 section 2.1)


def served(settings: Settings) -> tuple[str, ...]:
    """Return the names of the methods that this installation can verify."""
    return tuple(name for name, method in METHODS.items() if method.is_served(settings))


def metadata(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the members for each endpoint that serves these methods (RFC 8414 section 2).

    Pushed requests have those of the token endpoint (RFC 9126 section 5).
    """
    algorithms = list(dict.fromkeys(algorithm for name in names for algorithm in METHODS[name].algorithms))
    members = {}
    for endpoint in (*_OPEN_ENDPOINTS, *_CLOSED_ENDPOINTS):
        is_open = endpoint in _OPEN_ENDPOINTS
        members[f"{endpoint}_auth_methods_supported"] = [name for name in names if is_open or name != none.METHOD.name]
        members[f"{endpoint}_auth_signing_alg_values_supported"] = algorithms
    return members
