"""Publishes the keys that sign webhooks."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import Any, Final

from app.contract.webhooks import delivery_operations
from app.identity.directory.tenants.keys.signing_algorithms import WEBHOOKS
from app.identity.platform.context import Context
from app.identity.platform.outbound import signatures
from app.kit.operations.wire import Document, Nothing

_MAX_AGE_SECONDS: Final = 300
"""Shorter than a new key is published before it signs."""


@delivery_operations.keys.implements
def read_keys(context: Context, req: Nothing) -> Document:  # noqa: ARG001 - the handler's signature
    keys = context.services.signing_keys.current(context.work, WEBHOOKS).webhooks
    published = {"keys": [_published(key) for key in keys]}
    return Document(json.dumps(published, separators=(",", ":")).encode(), max_age_seconds=_MAX_AGE_SECONDS)


def _published(key: dict[str, Any]) -> dict[str, Any]:
    """Return a JWK with the form of Standard Webhooks beside it; other members of a JWK are ignored (RFC 7517 section 4)."""
    return {**key, "whpk": signatures.public_key_text(urlsafe_b64decode(f"{key['x']}=="))}
