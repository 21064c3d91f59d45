"""Machine tokens (M): RS256 JWTs of /service/oauth/token, for the management operations (tenant-config.md section 1)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from app.contract.errors import MachineRefused
from app.identity.oauth import signatures
from app.identity.store.unit import Cost
from app.identity.tenants.tenant import Tenant

if TYPE_CHECKING:
    from app.identity.call import Call
    from app.identity.house import House

KIND = "at+jwt"  # RFC 9068 section 2.1
LIFETIME_SECONDS = 3600
GRANT = "client_credentials"
_FAMILIES = ("/identity/v2/manage", "/v2/manage")  # a token of one is good for both


def issuer(call: Call) -> str:
    """Return the issuer of machine tokens, which the interface writes with a slash."""
    return f"{call.issuer}/"


def audiences(house: House) -> frozenset[str]:
    """Return the audiences that the management operations go by."""
    return frozenset(house.settings.base_url + path for path in _FAMILIES)


def claims_of(call: Call, token: str | None) -> dict[str, Any]:
    """Return the claims of this tenant's machine token; raises MachineRefused (6002) for anything else."""
    try:
        claims = signatures.read(call, token or "", kinds=(KIND,))
    except signatures.NotOurs:
        raise MachineRefused from None
    audience = claims.get("aud")
    named = frozenset(audience if isinstance(audience, list) else [audience])
    is_ours = claims.get("iss") == issuer(call) and claims.get("gty") == GRANT and bool(named & audiences(call.house))
    if not is_ours or not claims.get("nbf", 0) <= call.now.timestamp() < claims.get("exp", 0):
        raise MachineRefused
    return claims


def tenant_of(house: House, token: str | None, cost: Cost) -> Tenant:
    """Return the tenant whose issuer the token names; nothing is believed yet. Raises MachineRefused."""
    try:
        part = (token or "").split(".")[1]
        claimed = json.loads(_decoded(part))
        host = urlsplit(str(claimed["iss"])).netloc.lower()
    except (IndexError, KeyError, TypeError, ValueError):
        raise MachineRefused from None
    name, _, domain = host.partition(".")
    found = house.directory.by_name(name, cost) if domain == house.settings.hub_domain else None
    if found is None:
        raise MachineRefused
    return found


def _decoded(part: str) -> bytes:
    return urlsafe_b64decode(part.encode("ascii", "strict") + b"=" * (-len(part) % 4))
