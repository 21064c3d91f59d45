"""The methods of client authentication: what a client may be registered for, what is accepted, and what the metadata names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.identity.protocols.oauth.client_authentication import client_secret_basic, client_secret_post, none
from app.identity.protocols.oauth.client_authentication.method import Method

METHODS: Final[Mapping[str, Method]] = {
    one.METHOD.name: one.METHOD for one in (client_secret_basic, client_secret_post, none)
}


def supported(*, with_public: bool = True) -> list[str]:
    """Return the names for the metadata (RFC 8414 section 2); a public client may not introspect (RFC 7662 section 2.1)."""
    return [name for name in METHODS if with_public or name != none.METHOD.name]
