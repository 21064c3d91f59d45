"""Withdraws a leaked signing key: what is signed by it is believed no more, and another key signs at once."""

from __future__ import annotations

from dataclasses import dataclass

from app.identity.credentials.tokens import store as tokens
from app.identity.directory.tenants import changes
from app.identity.platform.audit import AuditLog
from app.identity.platform.services import Services
from app.identity.platform.store.unit import UnitOfWork


@dataclass(frozen=True)
class Revoked:
    """What was withdrawn."""

    kid: str
    signs: str
    """The id of the key that signs from now on."""
    tokens: int
    """How many access tokens ended with it."""


def revoke(services: Services, work: UnitOfWork, kid: str | None = None) -> Revoked:
    """Withdraw a key of the tenant, the one that signs where none is named, and every access token that is a JWT.

    The tenant's version goes up with it, by which every process learns of it. Raises LookupError where the tenant publishes
    no such key.
    """
    gone, signs = services.signing_keys.revoke(work, kid)
    signed = [
        one.client_id for one in changes.applications_of(work) if one.settings.get("access_token_format") == "jwt"
    ]
    ended = tokens.delete_signed(work, signed)
    changes.change(work)
    audit = AuditLog(services.clock)
    audit.record("signing_key.revoked", kid=gone, signs=signs, tokens=ended)
    audit.write(work)
    return Revoked(gone, signs, ended)
