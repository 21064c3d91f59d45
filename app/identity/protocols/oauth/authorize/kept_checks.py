"""Keeps what the checks of usual authorization requests found (decisions/0301).

A client sends the same request for each sign-in, but for state, nonce and code challenge. What the checks find in the
rest depends on the configuration of the tenant and the client alone, so it holds while the process has the same copies of
both. What differs is checked each time, by the same functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.contract.oauth_response_types import CODE
from app.identity.platform.tenant import Application, Tenant
from app.identity.protocols.oauth.authorize import jarm, nonce, pkce, repeated, state
from app.identity.protocols.oauth.authorize.request import UncheckedRequest
from app.identity.protocols.oauth.issuers import Issuer
from app.kit.lru_cache import LruCache

_SAME: Final = ("client_id", "redirect_uri", "response_type", "scope")
_OF_EACH: Final = frozenset({"state", "nonce", "code_challenge", "code_challenge_method"})
CHECKS_OF_EACH: Final = (jarm.create_keys, state.check, repeated.check, nonce.check, pkce.check)
"""The checks of a request whose other checks are kept, in their order."""
_USUAL: Final = _OF_EACH.union(_SAME)
_MOST_CHARACTERS: Final = 2_000
"""Of a request's kept parameters: most are the registered redirect URI, but a scope may hold anything."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """What the checks accepted, and the configuration by which they did."""

    tenant: Tenant
    client: Application
    issuer: Issuer
    accepted: Mapping[str, Any]


_KEPT: Final[LruCache[tuple[str | None, ...], _Checked]] = LruCache(1_000)


def take(request: UncheckedRequest) -> bool:
    """Accept what the checks of an equal request found. Return whether only `CHECKS_OF_EACH` remain."""
    key = _key(request)
    kept = _KEPT.get(key) if key is not None else None
    if kept is None or kept.tenant is not request.context.tenant:
        return False
    if kept.client is not request.context.application(client_id=kept.client.client_id):
        return False
    request.client, request.issuer, request.accepted = kept.client, kept.issuer, dict(kept.accepted)
    return True


def keep(request: UncheckedRequest) -> None:
    """Keep what all checks of the request found, if it is a usual one."""
    key, client = _key(request), request.client
    # A client that registered itself changes without a new version of the tenant.
    if key is None or client.is_self_registered:
        return
    if request.accepted["response_type"] != CODE:  # its refusals have another response mode once its type is known
        return
    accepted = {name: value for name, value in request.accepted.items() if name not in _OF_EACH}
    _KEPT.put(key, _Checked(request.context.tenant, client, request.issuer, accepted))


def _key(request: UncheckedRequest) -> tuple[str | None, ...] | None:
    """Return what tells usual requests apart; None for another request."""
    values, visit = request.values, request.context.visit
    if request.repeated or request.is_push or visit is None or not _USUAL.issuperset(values):
        return None
    same = [values.get(name) for name in _SAME]
    if sum(map(len, filter(None, same))) > _MOST_CHARACTERS:
        return None
    return (request.context.tenant.tenant_id, visit.host, request.protocol, request.app, *same)
