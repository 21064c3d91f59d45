"""Revocation of a leaked signing key: its tokens are no longer valid, and another key signs at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.contract.applications.token_signing import DEFAULT_ALGORITHM, SigningSettings
from app.identity.credentials.tokens import token_store
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.audit import AuditLog
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork

MACHINES: Final = DEFAULT_ALGORITHM
"""Signs machine tokens."""


@dataclass(frozen=True)
class RevokedSigningKey:
    """The revoked key."""

    kid: str
    signs: str
    """The id of the key that replaces it."""
    tokens: int
    """The number of access tokens that were revoked."""


def revoke(services: IdentityServices, work: UnitOfWork, kid: str | None = None) -> RevokedSigningKey:
    """Revoke a key of the tenant, by default the current RS256 key, and every JWT access token of its algorithm.

    The tenant's version is incremented, so that every process reloads the keys. Raises LookupError for an unknown key.
    """
    key = services.signing_keys.revoke(work, kid)
    signed = [
        application.client_id
        for application in tenant_writes.applications_of(work)
        if _access_token_algorithm(application.settings) == key.algorithm
    ]
    ended = token_store.delete_signed(work, signed, machines=key.algorithm == MACHINES)
    tenant_writes.change(work)
    audit = AuditLog(services.clock)
    audit.record("signing_key.revoked", kid=key.kid, signs=key.signs, alg=key.algorithm, tokens=ended)
    audit.write(work)
    return RevokedSigningKey(key.kid, key.signs, ended)


def _access_token_algorithm(settings: Mapping[str, Any]) -> str | None:
    """Return the algorithm of an application's access tokens; None for opaque ones."""
    stated = SigningSettings.model_validate({n: v for n, v in settings.items() if n in SigningSettings.model_fields})
    return stated.access_token_signing_alg if stated.access_token_format == "jwt" else None
