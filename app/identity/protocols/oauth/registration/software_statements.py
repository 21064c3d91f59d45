"""Software statements: metadata that a trusted issuer signed, which overrides what the application states (RFC 7591 section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.contract.applications.localized_texts import LOCALIZED
from app.contract.oauth.oauth_errors import InvalidSoftwareStatement, UnapprovedSoftwareStatement
from app.identity.platform import jwts
from app.identity.platform.context import Context
from app.identity.platform.jwts import PLAIN_TYPES, JwtNotAccepted, JwtProfile
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.sender_constraints import client_keys

MEMBER: Final = "software_statement"
PROFILE: Final = JwtProfile(client_keys.ALGORITHMS, 50_000, PLAIN_TYPES)


def apply(context: Context, members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members with those of the statement in their place; a signed name has no unsigned translations.

    Raises:
        InvalidSoftwareStatement: it is malformed, not signed by its issuer, or out of its time (RFC 7591 section 3.2.2).
        UnapprovedSoftwareStatement: the tenant does not trust its issuer.
    """
    statement = members.get(MEMBER)
    if statement is None:
        return dict(members)
    if not isinstance(statement, str) or len(statement) > PROFILE.max_length:
        raise InvalidSoftwareStatement
    try:
        header = jwts.unverified_header(statement, PROFILE)
        issuer = jwts.unverified_claims(statement, PROFILE).get("iss")
    except JwtNotAccepted:
        raise InvalidSoftwareStatement("Expected a signed JWT.") from None
    trusted = context.tenant.settings.client_registration.software_statement_issuers
    if not isinstance(issuer, str) or not PROFILE.accepts_type(header):
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
    try:
        claims = dict(jwts.read_jwt(statement, client_keys.registered(context, None, address), PROFILE).claims)
    except (JwtNotAccepted, ProviderUnavailable):
        raise InvalidSoftwareStatement("Its issuer did not sign it.") from None
    if not all(PROFILE.times(claims, context.now).values()):
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
