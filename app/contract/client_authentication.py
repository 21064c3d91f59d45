"""How clients authenticate: names of the methods (RFC 7591 section 2, OpenID Connect Core section 9)."""

from typing import Literal

AuthMethod = Literal["client_secret_basic", "client_secret_post", "none"]
"""The identity service has one entry for each in `client_authentication/registry.py`."""
