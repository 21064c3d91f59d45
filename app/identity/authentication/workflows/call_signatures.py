"""Signs the calls of workflows as Standard Webhooks specifies, like the deliveries of webhooks."""

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
    key: Any = context.services.signing_keys.current(context.work, WEBHOOKS).signers[WEBHOOKS].key.raw_value
    return signatures.standard_headers(call_id, context.now, body, [_secret(context, secret_name)], key.sign)


def _secret(context: Context, name: str) -> str:
    """Return a secret of the tenant. A server that has one to verify calls knows neither the API secret nor those of other names."""
    sealed = context.tenant.sealed_api_secret
    associated_data = tenant_writes.api_secret_associated_data(context.tenant.tenant_id)
    api_secret = context.services.encryption.decrypt(sealed, associated_data).decode()
    return secret_of(api_secret, name)


def secret_of(api_secret: str, name: str) -> str:
    """Return the secret of a name as libraries of Standard Webhooks take it: `whsec_` and the Base64 of an HMAC-SHA256."""
    key = hmac.digest(api_secret.encode(), f"{_LABEL}{name}".encode(), "sha256")
    return f"{signatures.SECRET_PREFIX}{b64encode(key).decode()}"
