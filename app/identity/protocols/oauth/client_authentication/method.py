"""The declaration of a method of client authentication."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.client_authentication.credentials import Carrier, ClientCredentials
from app.settings import Settings

Verify = Callable[[Context, Application, ClientCredentials], None]


@dataclass(frozen=True)
class Method:
    """A method of client authentication.

    Args:
        name: of the registration and of the metadata (RFC 7591 section 2).
        carrier: the part of a request that it reads.
        verify: raises the OAuth error of credentials that are wrong; called only for an active client that may use the method.
        is_secret_sent: the request contains the client's secret itself.
        algorithms: the signatures that it accepts, if it signs.
        is_served: whether the installation can verify it; the metadata name no other.
    """

    name: str
    carrier: Carrier
    verify: Verify
    is_secret_sent: bool = False
    algorithms: tuple[str, ...] = ()
    is_served: Callable[[Settings], bool] = lambda _: True
