"""Revocation of a leaked signing key: its tokens are no longer valid, and another key signs at once."""

from __future__ import annotations

from dataclasses import dataclass

from app.identity.credentials.tokens import store as tokens
from app.identity.directory.tenants import changes
from app.identity.platform.audit import AuditLog
from app.identity.platform.services import Services
from app.identity.platform.store.unit import UnitOfWork


@dataclass(frozen=True)
class Revoked:
    """The revoked key."""

    kid: str
    signs: str
    """The id of the key that replaces it."""
    tokens: int
    """The number of access tokens that were revoked."""


def revoke(services: Services, work: UnitOfWork, kid: str | None = None) -> Revoked:
    """Revoke a key of the tenant, by default the signing one, and every JWT access token.

    The tenant's version is incremented, so that every process reloads the keys. Raises LookupError for an unknown key.
    """
    revoked, signs = services.signing_keys.revoke(work, kid)
    signed = [
        application.client_id
        for application in changes.applications_of(work)
        if application.settings.get("access_token_format") == "jwt"
    ]
    ended = tokens.delete_signed(work, signed)
    changes.change(work)
    audit = AuditLog(services.clock)
    audit.record("signing_key.revoked", kid=revoked, signs=signs, tokens=ended)
    audit.write(work)
    return Revoked(revoked, signs, ended)
