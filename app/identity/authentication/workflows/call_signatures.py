"""Signs the calls of workflows as Standard Webhooks specifies, like the deliveries of webhooks.

Each secret is derived from the API secret and a name: a server that has one knows neither the API secret nor those of other names.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from typing import Any, Final

from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys.signing_algorithms import WEBHOOKS
from app.identity.platform.context import Context
from app.identity.platform.outbound import signatures

_LABEL: Final = "workflow.call:"


def headers(context: Context, call_id: str, body: bytes, secret_name: str) -> dict[str, str]:
    """Return the headers that sign a call: by the secret of this name, and by the tenant's key for webhooks."""
    signer: Any = context.services.signing_keys.current(context.work, WEBHOOKS).signers[WEBHOOKS].key.raw_value
    return signatures.standard_headers(
        call_id, context.now, body, [secret_of(_api_secret(context), secret_name)], signer.sign
    )


def key(context: Context, name: str) -> bytes:
    """Return the bytes of a secret of the tenant, with which its pages sign results."""
    return key_of(_api_secret(context), name)


def _api_secret(context: Context) -> str:
    associated_data = tenant_writes.api_secret_associated_data(context.tenant.tenant_id)
    return context.services.encryption.decrypt(context.tenant.sealed_api_secret, associated_data).decode()


def secret_of(api_secret: str, name: str) -> str:
    """Return the secret of a name as libraries of Standard Webhooks take it: `whsec_` and the Base64 of `key_of`."""
    return f"{signatures.SECRET_PREFIX}{b64encode(key_of(api_secret, name)).decode()}"


def key_of(api_secret: str, name: str) -> bytes:
    """Return the 32 bytes of the secret of a name: an HMAC-SHA256."""
    return hmac.digest(api_secret.encode(), f"{_LABEL}{name}".encode(), "sha256")
