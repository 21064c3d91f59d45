"""Pushed authorization requests (RFC 9126): checked when the client pushes them, begun within 90 seconds, and used once.

A request is used up by the response to the client, not by the first page, because browsers load addresses again (FAPI 2.0 Security
Profile section 5.3.2.2, decision 0252).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.contract.oauth import oauth_errors
from app.contract.oauth.authorization_operations import PushedRequest, PushedResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.authorize.request import Check, RefusedByRedirect, RefusedOnPage, UncheckedRequest
from app.identity.protocols.oauth.sender_constraints import token_binding
from app.kit import randomness

LIFETIME: Final = timedelta(seconds=90)
PREFIX: Final = "urn:ietf:params:oauth:request_uri:"
_HELD: Final = timedelta(days=1)
"""How long a request that was begun is known: longer than any sign-in takes."""
_UNTIL: Final = "until"
"""The fact with the time until which a begun request can be begun again, in seconds since 1970."""
_SIGNED: Final = "is_signed"
_KIND: Final = ContinuationPurpose.PUSHED_REQUEST
_NOT_STORED = {"app", "client_secret", "client_assertion_type", "client_assertion"}


def push(context: Context, client: Application, req: PushedRequest, checks: Iterable[Check]) -> PushedResponse:
    """Check a request as the authorization endpoint would, and store it (section 2).

    Raises:
        InvalidRequest and others: what the authorization endpoint would have answered.
    """
    members = {**req.model_dump(exclude=_NOT_STORED, exclude_none=True, by_alias=True), "client_id": client.client_id}
    parameters = [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in members.items()]
    protocol = issuers.requested_issuer(context, client).protocol
    request = UncheckedRequest(context, protocol, req.app, parameters, is_push=True)
    try:
        for check in checks:
            check(request)
    except RefusedOnPage as refusal:
        raise oauth_errors.InvalidRequest(refusal.description) from None
    except RefusedByRedirect as refusal:
        raise refusal.to_client_error() from None
    if (key := token_binding.pushed_key(context, client, request.values.get("dpop_jkt"))) is not None:
        request.values["dpop_jkt"] = key
    facts = {"client_id": client.client_id, "issuer": request.issuer.url, "parameters": request.values}
    facts[_SIGNED] = request.accepted.get(_SIGNED, False)
    token = continuation_tokens.issue(
        context,
        _KIND,
        NO_ACCOUNT,
        lifetime=LIFETIME,
        facts=facts,
        text=randomness.token(),
    )
    context.audit.record("authorize.pushed", client_id=client.client_id)
    return PushedResponse(request_uri=f"{PREFIX}{token.text}", expires_in=int(LIFETIME.total_seconds()))


@dataclass(frozen=True)
class StoredRequest:
    """A request that was pushed before: the digest of its address, its parameters, and whether a request object had them."""

    token_hash: str
    parameters: dict[str, str]
    is_signed: bool


def require(request: UncheckedRequest, address: str) -> StoredRequest:
    """Return a pushed request of this client (RFC 9126 section 4).

    Raises:
        RefusedByRedirect: it is unknown, used or expired, another client's, or was pushed to another issuer.
    """
    token = continuation_tokens.find(request.context, _KIND, address.removeprefix(PREFIX))
    expected = {"client_id": request.client.client_id, "issuer": request.issuer.url}
    if token is None or not expected.items() <= token.facts.items() or _is_late(token, request.context.now):
        raise RefusedByRedirect("invalid_request_uri", "The request_uri has expired or was used.")
    return StoredRequest(token.token_hash, dict(token.facts["parameters"]), token.facts.get(_SIGNED, False))


def hold(context: Context, token_hash: str | None) -> None:
    """Keep a request while a person signs in; it can be begun again as long as before."""
    token = continuation_tokens.by_hash(context, _KIND, token_hash) if token_hash is not None else None
    if token is not None and _UNTIL not in token.facts:
        continuation_tokens.extend(context, token, _HELD, **{_UNTIL: int(token.expires_at.timestamp())})


def use_up(context: Context, token_hash: str | None, interaction: Interaction | None = None) -> bool:
    """Use a request up; return False where another browser or tab than that of the interaction did before (RFC 9126 section 7.3)."""
    if token_hash is None or (interaction is not None and interactions.lock(context, interaction).is_done):
        return True
    return continuation_tokens.spend_hash(context, _KIND, token_hash)


def _is_late(token: ContinuationToken, now: datetime) -> bool:
    return token.is_expired(now) or (_UNTIL in token.facts and now.timestamp() >= token.facts[_UNTIL])
