"""What services outside gave a tenant: kept sealed together, by the service's name."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_core import from_json, to_json

from app.identity.directory.tenants import changes
from app.identity.platform.encryption import Encryption
from app.identity.platform.tenant import Tenant

CONNECTIONS = "connections"
"""The service under which the secrets of connections lie, by their names."""
Secrets = dict[str, dict[str, str]]


def secrets_of(encryption: Encryption, tenant: Tenant, service: str) -> Mapping[str, str]:
    """Return a service's secrets, those that are there. Raises DecryptionError."""
    return decrypt_all(encryption, tenant.tenant_id, tenant.sealed_service_secrets).get(service, {})


def decrypt_all(encryption: Encryption, tenant_id: str, sealed: bytes | None) -> Secrets:
    """Return the secrets of all services. Raises DecryptionError."""
    if sealed is None:
        return {}
    held: Secrets = from_json(encryption.decrypt(sealed, changes.service_secrets_associated_data(tenant_id)))
    return held


def encrypt_merged(
    encryption: Encryption, tenant_id: str, held: bytes | None, **stated: Mapping[str, str | None]
) -> bytes | None:
    """Return the sealed secrets with the stated ones in place of those that stand; the same bytes where nothing differs.

    None takes a secret away.
    """
    before = decrypt_all(encryption, tenant_id, held)
    after = dict(before)
    for name, given in stated.items():
        merged = {**before.get(name, {}), **given}
        after[name] = {key: secret for key, secret in merged.items() if secret is not None}
    after = {name: secrets for name, secrets in after.items() if secrets}
    return (
        held
        if after == before
        else encryption.encrypt(to_json(after), changes.service_secrets_associated_data(tenant_id))
    )
