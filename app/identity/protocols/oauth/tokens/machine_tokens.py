"""Machine tokens: RS256 JWTs of /service/oauth/token, for the management operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.contract.errors import MachineRefused
from app.contract.oauth.oauth_errors import InvalidRequest, UnauthorizedClient, UnsupportedGrantType
from app.contract.oauth.oauth_token_operations import MachineTokenRequest, TokenResponse
from app.identity.credentials.tokens import token_store, tokens
from app.identity.credentials.tokens.tokens import TokenGrant
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import Cost
from app.identity.platform.tenant import Application, Tenant
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth import refusal_log
from app.identity.protocols.oauth.sender_constraints import token_binding
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import claimed_issuers, issued_jwts
from app.kit import randomness

KIND = "at+jwt"  # RFC 9068 section 2.1
LIFETIME_SECONDS = 3600
GRANT = "client_credentials"
_MAX_NAMED = 5
_MANAGEMENT_PATHS = ("/identity/v2/manage", "/v2/manage")  # a token for one is good for both


def issuer(context: Context) -> str:
    """Return the issuer of machine tokens, which ends with a slash."""
    return f"{context.issuer}/"


def audiences(services: IdentityServices) -> frozenset[str]:
    """Return the audiences of the management operations."""
    return frozenset(services.settings.base_url + path for path in _MANAGEMENT_PATHS)


def _named(services: IdentityServices) -> list[str]:
    return sorted(audiences(services), reverse=True)


def verify(context: Context, token: str | None) -> dict[str, Any]:
    """Verify a machine token of this tenant and return its claims; raises MachineRefused (6002)."""
    try:
        claims = issued_jwts.read(context, token or "", kinds=(KIND,))
    except issued_jwts.InvalidJwt:
        raise MachineRefused("This is not a machine token of the tenant, or its signature is wrong.") from None
    audience = claims.get("aud")
    token_audiences = frozenset(audience if isinstance(audience, list) else [audience])
    if claims.get("iss") not in {f"{address}/" for address in context.own_urls} or claims.get("gty") != GRANT:
        raise MachineRefused("This is not a machine token of the tenant.")
    if not token_audiences & audiences(context.services):
        raise MachineRefused(f"The machine token is for another audience than {' or '.join(_named(context.services))}.")
    if not claims.get("nbf", 0) <= context.now.timestamp() < claims.get("exp", 0):
        raise MachineRefused("The machine token has expired.")
    if token_store.access(context.work, randomness.digest(token or "")) is None:
        raise MachineRefused("The machine token was revoked.")
    try:
        token_binding.check(context, token or "", claims.get("cnf") or {}, str(claims.get("cid")))
    except token_binding.SenderRefused as refusal:
        raise MachineRefused(refusal.reason) from None
    client = context.application(client_id=str(claims.get("cid")))
    if client is None or not client.settings.is_active:
        raise MachineRefused("The client of the machine token is gone.")
    return claims


def scopes_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the scopes that a machine token grants."""
    return frozenset(claims.get("scp") or ())


def management_scopes(services: IdentityServices, client: Application) -> frozenset[str]:
    """Return the scopes of a client at the management operations."""
    return frozenset(_allowed_scopes(services, client, services.settings.base_url + _MANAGEMENT_PATHS[0]) or ())


def issue(context: Context, client: Application, req: MachineTokenRequest, confirmation: Confirmation) -> TokenResponse:
    """Issue a machine token for an audience of the client's `audience_scopes`; without `scope` it has all scopes there."""
    if req.grant_type != GRANT:
        raise UnsupportedGrantType
    if req.audience is None:
        raise InvalidRequest.names("audience")
    if client.settings.is_public or GRANT not in client.settings.grant_types:
        raise UnauthorizedClient("This client may not use this grant.")
    allowed = _allowed_scopes(context.services, client, req.audience)
    if allowed is None:
        raise UnauthorizedClient(f"This client may not use this audience. {_known_audiences(client)}")
    scopes = tuple(dict.fromkeys(req.scope.split())) if req.scope else allowed
    if "all" not in allowed and (unknown := set(scopes) - set(allowed)):
        raise refusal_log.scope_of_another(unknown)
    lifetime = client.settings.access_token_seconds or LIFETIME_SECONDS
    claims = _claims(context, client, req.audience, scopes, lifetime)
    cnf = confirmation.cnf
    if cnf is not None:
        claims["cnf"] = cnf
    grant = TokenGrant(
        uid=None,
        claims=TokenClaims(issuer=claims["iss"], sub=claims["sub"], aud=tuple(claims["aud"]), gty=GRANT, cnf=cnf),
        client_id=client.client_id,
        scope=claims["scope"],
        access_seconds=lifetime,
        has_refresh_token=False,
        signed_access_token=context.services.signing_keys.sign(context.work, claims, KIND),
    )
    issued = tokens.issue(context, grant)
    context.audit.record("tokens.issued", client_id=client.client_id, grant=GRANT, audience=req.audience)
    scope = claims["scope"] or None
    return TokenResponse(
        access_token=issued.access_token,
        token_type=confirmation.token_type,
        expires_in=lifetime,
        expire_in=str(lifetime),
        scope=scope,
    )


def _claims(
    context: Context, client: Application, audience: str, scope: tuple[str, ...], lifetime: int
) -> dict[str, Any]:
    now = int(context.now.timestamp())
    return {
        "iss": issuer(context),
        "sub": f"{client.client_id}@client",
        "aud": [audience],
        "cid": client.client_id,
        "client_id": client.client_id,
        "gty": GRANT,
        "scp": list(scope),
        "scope": " ".join(scope),
        "iat": now,
        "nbf": now,
        "exp": now + lifetime,
        "jti": randomness.token(18),
    }


def _known_audiences(client: Application) -> str:
    """Return the audiences that the authenticated client may request, for the refusal of another audience."""
    names = sorted(client.settings.audience_scopes)[:_MAX_NAMED]
    return (
        f"Its audience_scopes have: {', '.join(map(refusal_log.shown, names))}"
        if names
        else "Its audience_scopes are empty."
    )


def _allowed_scopes(services: IdentityServices, client: Application, audience: str) -> tuple[str, ...] | None:
    """Return the client's scopes at the audience; the two management audiences are equivalent."""
    by_audience = client.settings.audience_scopes
    management = audiences(services)
    names = [audience, *sorted(management)] if audience in management else [audience]
    return next((by_audience[name] for name in names if name in by_audience), None)


def tenant_of(services: IdentityServices, token: str | None, cost: Cost, scope: str = "") -> Tenant:
    """Return the tenant whose issuer the unverified token names; raises MachineRefused, which names the scope that is needed."""
    host = claimed_issuers.claimed_host(token)
    tenant = services.directory.by_host(host, cost) if host else None
    if tenant is None:
        found = "The request has no machine token" if token is None else "The bearer token is not a machine token"
        needed = f" with the scope {scope}" if scope else ""
        raise MachineRefused(f"{found}. Send one{needed} for the audience {_named(services)[0]}.")
    return tenant
