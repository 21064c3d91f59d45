"""Repeated creates: a request with an `Idempotency-Key` that created an item before gets the same response, and creates nothing.

IETF draft "The Idempotency-Key HTTP Header Field". A key is that of its caller, with its scopes, and operation, for a day. The
response is stored encrypted, because it may have a secret that is shown once, and which a narrower token must not get.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from datetime import timedelta
from typing import Final

from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.kit import randomness
from app.kit.operations.wire import Wire
from app.kit.resources.operations import BoundOperation
from app.kit.resources.resource_models import IDEMPOTENCY_KEY

LIFETIME: Final = timedelta(days=1)


def earlier_response(context: Context, bound: BoundOperation, req: Wire) -> Wire | None:
    """Return the response to the same request before; the tenant is locked. Raises the area's error for a key of another request."""
    text = _text(context, bound, req)
    token = continuation_tokens.find(context, ContinuationPurpose.IDEMPOTENCY, text) if text else None
    if token is None or token.is_expired(context.now):
        return None
    if token.facts["request"] != _digest(req):
        raise bound.bad("Idempotency-Key: a new one; this one was used for another request.")
    encrypted = b64decode(token.facts["response"])
    stored = context.services.encryption.decrypt(encrypted, _associated_data(context, token.token_hash))
    response: Wire = bound.operation.response.model_validate_json(stored)
    return response


def keep_response(context: Context, bound: BoundOperation, req: Wire, response: Wire) -> None:
    """Keep a response for repetitions of its request."""
    if text := _text(context, bound, req):
        clear = response.model_dump_json(by_alias=True).encode()
        encrypted = context.services.encryption.encrypt(clear, _associated_data(context, randomness.digest(text)))
        facts = {"request": _digest(req), "response": b64encode(encrypted).decode()}
        continuation_tokens.renew(context, ContinuationPurpose.IDEMPOTENCY, NO_ACCOUNT, text, LIFETIME, facts)


def _text(context: Context, bound: BoundOperation, req: Wire) -> str:
    """Return the identity of a request: caller, scopes, operation and key; an empty text without a key."""
    key = getattr(req, IDEMPOTENCY_KEY, None)
    caller = " ".join([str((context.machine or {}).get("sub", "")), *sorted(context.program_scopes)])
    return randomness.digest(f"{caller}\x1f{bound.operation.name}\x1f{key}") if key else ""


def _digest(req: Wire) -> str:
    body = req.model_dump(mode="json", exclude={IDEMPOTENCY_KEY}, exclude_unset=True)
    return randomness.digest(json.dumps(body, sort_keys=True))


def _associated_data(context: Context, token_hash: str) -> str:
    return f"{context.tenant.tenant_id} idempotency {token_hash}"
