"""How a grant is stated: once, in its module."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.contract.oauth.oauth_token_operations import TokenRequest, TokenResponse
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation

Exchange = Callable[[Context, Application, Issuer, TokenRequest, Confirmation], TokenResponse]


@dataclass(frozen=True)
class Grant:
    """A grant of the token endpoint."""

    name: str
    """The value of `grant_type`, under which an application is registered for it."""
    exchange: Exchange
    takes_details: bool = False
    """Whether a token request may select of the granted `authorization_details` (RFC 9396 section 6.1)."""
    is_confidential: bool = False
    """Whether a public client may not use it, also one that is registered for it."""
    is_allowed_in_fapi: bool = True
    shows_use: bool = False
    """Whether an exchange shows that a person uses the application; the authorization endpoint sees the other uses."""
    other_spelling: re.Pattern[str] | None = None
    """Of `grant_type`, beside its name."""
