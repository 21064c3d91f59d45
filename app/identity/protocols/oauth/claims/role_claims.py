"""Claims about roles and permissions, for applications that are registered for them and ask for them (decision 0187)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.contract.applications.client_protocol import ClientProtocol
from app.identity.directory.accounts.account import Account
from app.identity.directory.roles import tenant_roles
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.issuers import Issuer
from app.kit.clock import iso

SCOPES: Final[Mapping[str, tuple[str, ...]]] = {"roles": ("roles", "role_contexts"), "permissions": ("permissions",)}
"""The claims of each scope."""
MAX_TOKEN_BYTES: Final = 3_000
"""JSON bytes of these claims in one token. The token is 4/3 of its claims, and fits in the 8 KiB that servers accept as headers."""
_ORDER: Final = ("roles", "permissions", "role_contexts")
"""By priority: a token has as many of the claims as fit."""
_SOURCE: Final = "userinfo"


def names(client: Application, scope: Iterable[str], requested: Collection[str] = ()) -> tuple[str, ...]:
    """Return the claims of a scope, and those of the `claims` parameter, for which the client is registered now."""
    by_scope = {name for item in scope for name in SCOPES.get(item, ())}
    return tuple(
        name
        for item, members in SCOPES.items()
        for name in members
        if item in client.scopes and (name in by_scope or name in requested)
    )


@dataclass(frozen=True)
class RoleClaims:
    """The claims of both tokens of a response."""

    access_token: dict[str, Any]
    id_token: dict[str, Any]


def of_tokens(
    context: Context,
    client: Application,
    issuer: Issuer,
    account: Account | None,
    scope: Collection[str],
    requested: Collection[str],
) -> RoleClaims:
    """Return the claims of an access token, by its scope, and of an id_token, by the scope and the `claims` parameter."""
    by_scope, expected = names(client, scope), names(client, scope, requested)
    if account is None or not expected:
        return RoleClaims({}, {})
    values = read(context, account, expected)
    source = (
        issuer.browser_endpoint(_SOURCE) if issuer.protocol is ClientProtocol.OPENID and "openid" in scope else None
    )
    return RoleClaims(_fitted(values, by_scope, source), _fitted(values, expected, source))


def read(context: Context, account: Account, requested: Collection[str]) -> dict[str, Any]:
    """Return these claims of an account; without any, nothing is read."""
    if not requested:
        return {}
    access = tenant_roles.access_of(context, account)
    values: dict[str, Any] = {
        "roles": list(access.roles),
        "permissions": list(access.permissions),
        "role_contexts": [
            {
                "context": row.context,
                "roles": row.roles,
                "additional_permissions": row.additional_permissions,
                "expiration": iso(row.ends_at),
            }
            for row in access.contexts
        ],
    }
    return {name: values[name] for name in _ORDER if name in requested}


def _fitted(values: Mapping[str, Any], requested: Collection[str], source: str | None) -> dict[str, Any]:
    """Return the wanted claims as a token contains them.

    A claim is complete or absent. The token names the absent ones, and the userinfo endpoint, which has them (OpenID Connect Core
    section 5.6.2); `source`: its address, None for a token that it refuses.
    """
    fitted: dict[str, Any] = {}
    size = 0
    for name in (name for name in _ORDER if name in requested):
        size += len(json.dumps({name: values[name]}, separators=(",", ":")))
        if size <= MAX_TOKEN_BYTES:
            fitted[name] = values[name]
    left = [name for name in requested if name not in fitted]
    if left and source is not None:
        fitted["_claim_names"] = dict.fromkeys(left, _SOURCE)
        fitted["_claim_sources"] = {_SOURCE: {"endpoint": source}}
    return fitted
