"""The JWT-secured authorization response (JARM section 2.1): the parameters of a response, or of an error, as one signed JWT."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from app.identity.platform.context import Context
from app.identity.platform.tenant import Application

LIFETIME: Final = timedelta(minutes=10)
"""The longest lifetime that JARM section 2.1 recommends; the client reads the response at once."""


def create_missing_keys(context: Context, client: Application) -> None:
    """Create the missing keys for the client's tokens and responses, in a transaction of their own, before this one writes."""
    context.services.signing_keys.current(context.work, *client.settings.algorithms)


def signed(context: Context, client: Application, parameters: Mapping[str, str]) -> str:
    """Return the JWT of a response; `iss` is among the parameters."""
    claims = {**parameters, "aud": client.client_id, "exp": int((context.now + LIFETIME).timestamp())}
    algorithm = client.settings.authorization_signed_response_alg
    return context.services.signing_keys.sign(context.work, claims, algorithm=algorithm)
