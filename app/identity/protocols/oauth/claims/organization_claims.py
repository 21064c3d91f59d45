"""Claims about the organization that tokens are for (decision 0191)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from app.identity.directory.organizations.memberships import memberships
from app.identity.directory.organizations.organization import Membership
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application

NAMES: Final = ("org_id", "org_name", "org_roles", "org_permissions")
MAX_TOKEN_BYTES: Final = 1_500
"""JSON bytes of roles and permissions in a token, beside those of `role_claims`.

What does not fit is absent as a whole; userinfo and introspection have it.
"""
_PERMISSIONS: Final = "permissions"


def membership_of(context: Context, uid: str | None, org_id: str | None) -> Membership | None:
    """Return the current membership of a token; None if it has ended, and for tokens without an organization."""
    return memberships.of_uid(context, uid, org_id) if uid is not None and org_id is not None else None


def read(membership: Membership | None, client: Application | None, scope: Iterable[str]) -> dict[str, Any]:
    """Return all claims of a membership; the permissions need the scope `permissions`, granted and still registered."""
    if membership is None:
        return {}
    claims: dict[str, Any] = {
        "org_id": membership.organization.org_id,
        "org_name": membership.organization.name,
        "org_roles": list(dict.fromkeys(role.name for role in membership.roles)),
    }
    if client is not None and _PERMISSIONS in scope and _PERMISSIONS in client.scopes:
        claims["org_permissions"] = sorted(membership.permissions)
    return claims


def of_token(membership: Membership | None, client: Application, scope: Iterable[str]) -> dict[str, Any]:
    """Return the claims as a signed token has them."""
    claims = read(membership, client, scope)
    size = 0
    for name in [name for name in ("org_roles", "org_permissions") if name in claims]:
        size += len(json.dumps({name: claims[name]}, separators=(",", ":")))
        if size > MAX_TOKEN_BYTES:
            del claims[name]
    return claims
