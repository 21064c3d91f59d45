"""The secrets of a tenant after a configuration file. An encrypted secret that the file does not change stays byte by byte."""

from __future__ import annotations

import hmac
from collections.abc import Container, Iterator
from typing import Final

from app.contract.tenants.file import TenantFile
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.directory.tenants.tenant_writes import TenantRow
from app.identity.platform.encryption import Encryption

_CONNECTION_SECRETS: Final = {
    "secret": "", "apple_certificate": tenant_secrets.APPLE_KEY, "consumer_secret": tenant_secrets.CONSUMER_SECRET,
}  # fmt: skip
"""The secrets of a connection in the file, and what follows the connection's name in their keys."""


def api_secret(encryption: Encryption, tenant_id: str, secret: str) -> bytes:
    """Return the encrypted secret of a new tenant."""
    return encryption.encrypt(secret.encode(), tenant_writes.api_secret_associated_data(tenant_id))


def captcha_secret(encryption: Encryption, tenant_id: str, declared: TenantFile, stored: bytes | None) -> bytes | None:
    """Return the encrypted secret to store: the stored bytes if the file has the same secret or none."""
    secret, associated_data = declared.captcha_secret, tenant_writes.captcha_associated_data(tenant_id)
    if secret is None:
        return stored
    if stored is not None and hmac.compare_digest(encryption.decrypt(stored, associated_data), secret.encode()):
        return stored
    return encryption.encrypt(secret.encode(), associated_data)


def service_secrets(
    encryption: Encryption, tenant_id: str, declared: TenantFile, stored: bytes | None, connections: Container[str]
) -> bytes | None:
    """Return the encrypted secrets of push, Duo and connections to store: the stored bytes if the file changes none.

    Args:
        connections: the names of the tenant's connections after the run.
    """
    push = declared.push.secrets.model_dump(exclude_unset=True) if declared.push and declared.push.secrets else {}
    duo = {"client_secret": declared.duo.client_secret} if declared.duo and declared.duo.client_secret else {}
    known = tenant_secrets.decrypt_all(encryption, tenant_id, stored).get(tenant_secrets.CONNECTIONS, {})
    updates = _connection_secrets(declared, known, connections)
    return tenant_secrets.encrypt_merged(encryption, tenant_id, stored, push=push, duo=duo, connections=updates)


def _connection_secrets(
    declared: TenantFile, known: dict[str, str], connections: Container[str]
) -> dict[str, str | None]:
    """Return the secrets in the file, and None for those to remove: the connection is gone, or has no secret any longer."""
    if declared.connections is None:
        return {}
    secrets: dict[str, str | None] = {name: None for name in known if name.partition(".")[0] not in connections}
    for member, end in _CONNECTION_SECRETS.items():
        for name, connection in declared.connections.items():
            if member in connection.model_fields_set:
                secrets[name + end] = getattr(connection, member)
    return secrets


def ignored(encryption: Encryption, declared: TenantFile, stored: TenantRow) -> Iterator[str]:
    """Yield the key and the secret of the API where the file has another one than is stored: the stored one stays."""
    if declared.api_key and declared.api_key.lower() != stored.api_key:
        yield "api_key"
    if declared.api_secret:
        known = encryption.decrypt(
            stored.api_secret, tenant_writes.api_secret_associated_data(stored.tenant_id)
        ).decode()
        if not hmac.compare_digest(known.lower(), declared.api_secret.lower()):
            yield "api_secret"
