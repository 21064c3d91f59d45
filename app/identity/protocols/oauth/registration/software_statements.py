"""Software statements: metadata that a trusted issuer signed, which overrides what the application states (RFC 7591 section 2.3)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from typing import Any, Final

from app.contract.applications.localized_texts import LOCALIZED
from app.contract.oauth.oauth_errors import InvalidSoftwareStatement, UnapprovedSoftwareStatement
from app.identity.authentication.federation.providers import id_tokens
from app.identity.platform.context import Context
from app.identity.platform.outbound.openid_metadata import PARSE_ERRORS
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.sender_constraints import client_keys

MEMBER: Final = "software_statement"
_MAX_LENGTH: Final = 50_000


def apply(context: Context, members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members with those of the statement in their place; a signed name has no unsigned translations.

    Raises:
        InvalidSoftwareStatement: it is malformed, not signed by its issuer, or out of its time (RFC 7591 section 3.2.2).
        UnapprovedSoftwareStatement: the tenant does not trust its issuer.
    """
    statement = members.get(MEMBER)
    if statement is None:
        return dict(members)
    if not isinstance(statement, str) or len(statement) > _MAX_LENGTH:
        raise InvalidSoftwareStatement
    header, claimed = _part(statement, 0), _part(statement, 1)
    trusted = context.tenant.settings.client_registration.software_statement_issuers
    issuer = claimed.get("iss")
    if not isinstance(issuer, str) or "crit" in header:
        raise InvalidSoftwareStatement("Expected a signed JWT with an iss.")
    if issuer not in trusted:
        raise UnapprovedSoftwareStatement
    claims = _verified(context, statement, trusted[issuer])
    signed = {name.partition("#")[0] for name in claims}.intersection(LOCALIZED)
    unsigned = {
        name: value for name, value in members.items() if name != MEMBER and name.partition("#")[0] not in signed
    }
    return {**unsigned, **claims}


def _verified(context: Context, statement: str, address: str) -> dict[str, Any]:
    def keys(kid: str | None) -> Any:
        context.work.release_connection()
        return context.services.provider_metadata.keys(address, kid)

    try:
        _, claims = id_tokens.signed_claims(statement, keys, client_keys.ALGORITHMS)
    except (ProviderUnavailable, *PARSE_ERRORS):
        raise InvalidSoftwareStatement("Its issuer did not sign it.") from None
    now, ends_at, starts = context.now.timestamp(), claims.get("exp"), claims.get("nbf")
    is_over = ends_at is not None and not (id_tokens.is_time(ends_at) and now < ends_at + id_tokens.SKEW_SECONDS)
    is_early = starts is not None and not (id_tokens.is_time(starts) and starts - id_tokens.SKEW_SECONDS <= now)
    if is_over or is_early:
        raise InvalidSoftwareStatement("It is not valid now.")
    if not _is_for_us(context, claims.get("aud")):
        raise InvalidSoftwareStatement("It is for another server.")
    return claims


def _is_for_us(context: Context, audience: object) -> bool:
    """Return whether a statement names this server or none (RFC 7519 section 4.1.3); an id_token names its client."""
    if audience is None:
        return True
    issuer = issuers.tenant_wide(context)
    named = audience if isinstance(audience, list) else [audience]
    return any(item in (issuer.url, issuer.client_endpoint("register")) for item in named)


def _part(text: str, number: int) -> dict[str, Any]:
    parts = text.split(".")
    try:
        part = parts[number].encode("ascii")
        members = json.loads(urlsafe_b64decode(part + b"=" * (-len(part) % 4)))
    except (IndexError, *PARSE_ERRORS):
        raise InvalidSoftwareStatement("Expected a signed JWT.") from None
    if not isinstance(members, dict) or len(parts) != 3:
        raise InvalidSoftwareStatement("Expected a signed JWT.")
    return members
