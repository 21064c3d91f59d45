"""A connection of an organization, and a certificate for it."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

from app.identity.platform import saml_certificates

OIDC: dict[str, Any] = {
    "Name": "id-p_1", "ConnectionType": "oidc_custom", "Issuer": "https://idp.example", "ClientId": "client",
    "ClientSecret": "a secret", "AuthorizationUrl": "https://idp.example/authorize", "TokenUrl": "https://idp.example/token",
}  # fmt: skip


@cache
def certificate() -> str:
    return saml_certificates.generate("idp", datetime(2026, 1, 1, tzinfo=UTC))[0]
