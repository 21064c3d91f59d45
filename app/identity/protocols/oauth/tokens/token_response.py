"""Token responses (RFC 6749 section 5.1): the tokens of a grant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.oauth.oauth_token_operations import TokenResponse
from app.identity.credentials.tokens import tokens
from app.identity.credentials.tokens.tokens import TokenGrant
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth import resource_indicators
from app.identity.protocols.oauth.claims import (
    account_claims,
    mapped_claims,
    organization_claims,
    role_claims,
    subjects,
)
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import id_token, lifetimes, machine_tokens
from app.identity.protocols.oauth.tokens.grant_result import GrantResult
from app.kit import randomness


def token_response(
    context: Context, client: Application, issuer: Issuer, grant: GrantResult, account: Account | None
) -> TokenResponse:
    """Issue the tokens of a grant. They end with their session, unless they outlive it."""
    scope, stored = _scope_and_claims(context, client, issuer, grant)
    granted = (stored.granted or "").split() or grant.scope
    grant = replace(grant, scope=scope, claims=stored)
    session_id, ends_at = grant.session_id, grant.session_ends_at
    if lifetimes.outlives_session(client, granted):
        stored = replace(stored, sid=session_id)
        session_id = ends_at = None
    lifetime, refresh_seconds = lifetimes.of_tokens(context, client, account, stored, ends_at)
    roles = role_claims.of_tokens(context, client, issuer, account, scope, stored.id_token_claims or ())
    token_grant = TokenGrant(
        uid=grant.uid,
        claims=stored,
        client_id=client.client_id,
        session_id=session_id,
        session_ends_at=ends_at,
        scope=" ".join(scope),
        family_id=grant.family_id,
        access_seconds=lifetime,
        refresh_seconds=refresh_seconds,
        has_refresh_token=account is not None
        and not grant.is_access_only
        and lifetimes.has_refresh_token(client, granted),
        signed_access_token=_signed_access_token(context, client, grant, account, lifetime, roles.access_token),
        retained_refresh_token=grant.retained_refresh,
    )
    issued = tokens.issue(context, token_grant)
    signed_id_token = None
    if account is not None and _has_id_token(issuer, grant):
        hashed = {"at_hash": issued.access_token}
        signed_id_token = id_token.signed(context, client, issuer, grant, account, hashed, roles=roles.id_token)
    context.audit.record("tokens.issued", uid=grant.uid, client_id=client.client_id, grant=grant.kind)
    return _response(grant.confirmation, issued, signed_id_token, lifetime, token_grant)


def _response(
    confirmation: Confirmation,
    issued: tokens.IssuedTokens,
    signed_id_token: str | None,
    lifetime: int,
    grant: TokenGrant,
) -> TokenResponse:
    details = grant.claims.authorization_details
    return TokenResponse(
        access_token=issued.access_token,
        token_type=confirmation.token_type,
        expires_in=lifetime,
        expire_in=str(lifetime),
        refresh_token=issued.refresh_token,
        id_token=signed_id_token,
        scope=grant.scope or None,
        authorization_details=list(details) if details is not None else None,
    )


def _has_id_token(issuer: Issuer, grant: GrantResult) -> bool:
    return not grant.is_access_only and id_token.OPENID in grant.scope and issuer.protocol is ClientProtocol.OPENID


def _scope_and_claims(
    context: Context, client: Application, issuer: Issuer, grant: GrantResult
) -> tuple[tuple[str, ...], TokenClaims]:
    """Return the scope of the access token, and the claims to store with it."""
    scope = resource_indicators.narrow_scope(context, client, grant.scope, grant.resource)
    granted = grant.claims.granted
    if scope != grant.scope and granted is None:
        granted = " ".join(grant.scope)
    return scope, replace(
        grant.claims,
        issuer=issuer.url,
        gty=grant.kind,
        aud=tuple(resource_indicators.audience(context, client, scope, grant.resource)),
        granted=granted,
        sid=None,
        cnf=grant.confirmation.cnf,
    )


def _signed_access_token(
    context: Context,
    client: Application,
    grant: GrantResult,
    account: Account | None,
    lifetime: int,
    roles: Mapping[str, Any],
) -> str | None:
    """Return a JWT access token (RFC 9068 section 2) with the mapped claims (section 2.2.2) and those of roles (section 2.2.3.1).

    Its digest is stored like an opaque token's, so that it can be revoked. None for a client that gets opaque tokens.
    """
    if client.settings.access_token_format != "jwt":
        return None
    stored, now = grant.claims, int(context.now.timestamp())
    mapping, audience = client.settings.claims_mapping.access_token, stored.aud or ()
    payload: dict[str, Any] = {
        **(mapped_claims.of_token(account, mapping, account_claims.withheld(grant.scope)) if mapping else {}),
        **roles,
        "iss": stored.issuer,
        "sub": subjects.of(context, client, grant.uid) if grant.uid else client.client_id,
        "aud": audience[0] if len(audience) == 1 else list(audience),
        "client_id": client.client_id,
        "iat": now,
        "exp": now + lifetime,
        "jti": randomness.token(18),
        "scope": " ".join(grant.scope),
    }
    payload.update(organization_claims.of_token(grant.membership, client, grant.scope))
    payload.update(id_token.authentication_claims(stored))
    bound = {"cnf": stored.cnf, "authorization_details": stored.authorization_details}
    payload.update({name: value for name, value in bound.items() if value is not None})
    if grant.claims.act is not None:
        payload["act"] = subjects.actors_of(context, client, grant.claims.act)
    algorithm = client.settings.access_token_signing_alg
    return context.services.signing_keys.sign(context.work, payload, machine_tokens.KIND, algorithm)
