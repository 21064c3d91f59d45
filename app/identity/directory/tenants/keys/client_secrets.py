"""The secrets of clients: a digest of each, and beside it the secret itself, encrypted, for clients that sign with it (decision 0210)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from app.contract.applications.client_authentication import SECRET_JWT
from app.contract.applications.settings import ApplicationSettings
from app.identity.directory.tenants.tables import applications
from app.identity.platform.encryption import Encryption
from app.identity.platform.store.encrypted_columns import encrypted_columns
from app.identity.platform.tenant import Application
from app.kit import randomness

A = applications.c
NONE = dict.fromkeys(
    ("secret_hash", "sealed_secret", "former_secret_hash", "former_sealed_secret", "former_secret_until")
)
"""The columns of a client without a secret."""


def of(encryption: Encryption, tenant_id: str, client: Application, now: datetime) -> tuple[str, ...]:
    """Return the secrets that the client may sign with: the present one, and the former one for a while after a rotation.

    Empty for a client that was registered to sign after its secret had been issued. Raises DecryptionError.
    """
    place = _associated_data(tenant_id, client.client_id)
    return tuple(encryption.decrypt(sealed, place).decode() for sealed in client.encrypted_secrets(now))


def columns(
    encryption: Encryption, tenant_id: str, client_id: str, settings: ApplicationSettings, secret: str | None
) -> dict[str, Any]:
    """Return the columns of a client's new secret."""
    sealed = None
    if secret is not None and settings.token_endpoint_auth_method == SECRET_JWT:
        sealed = encryption.encrypt(secret.encode(), _associated_data(tenant_id, client_id))
    return {"secret_hash": randomness.digest(secret) if secret is not None else None, "sealed_secret": sealed}


def _associated_data(tenant_id: str, client_id: str) -> str:
    return f"{tenant_id} client_secret {client_id}"


ENCRYPTED_COLUMNS = encrypted_columns(
    applications,
    "sealed_secret",
    "former_sealed_secret",
    associated_data=lambda row: _associated_data(row["tenant_id"], row["client_id"]),
)
