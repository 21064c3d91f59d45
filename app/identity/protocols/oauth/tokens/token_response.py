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
    context: Context, client: Application, issuer: Issuer, result: GrantResult, account: Account | None
) -> TokenResponse:
    """Issue the tokens of a grant. They end with their session, unless they outlive it."""
    scope, claims = _scope_and_claims(context, client, issuer, result)
    full_scope = (claims.granted or "").split() or result.scope
    result = replace(result, scope=scope, claims=claims)
    session_id, ends_at = result.session_id, result.session_ends_at
    if lifetimes.outlives_session(client, full_scope):
        claims = replace(claims, sid=session_id)
        session_id = ends_at = None
    lifetime, refresh_seconds = lifetimes.token_lifetimes(context, client, account, claims, ends_at)
    roles = role_claims.of_tokens(context, client, issuer, account, scope, claims.id_token_claims or ())
    tokens_to_issue = TokenGrant(
        uid=result.uid,
        claims=claims,
        client_id=client.client_id,
        session_id=session_id,
        session_ends_at=ends_at,
        scope=" ".join(scope),
        family_id=result.family_id,
        access_seconds=lifetime,
        refresh_seconds=refresh_seconds,
        has_refresh_token=account is not None
        and not result.is_access_only
        and lifetimes.has_refresh_token(client, full_scope),
        signed_access_token=_signed_access_token(context, client, result, account, lifetime, roles.access_token),
        retained_refresh_token=result.retained_refresh,
    )
    issued = tokens.issue(context, tokens_to_issue)
    signed_id_token = None
    if account is not None and _has_id_token(issuer, result):
        hashed = {"at_hash": issued.access_token}
        signed_id_token = id_token.signed(context, client, issuer, result, account, hashed, roles=roles.id_token)
    context.audit.record("tokens.issued", uid=result.uid, client_id=client.client_id, grant=result.kind)
    return _response(result.confirmation, issued, signed_id_token, lifetime, tokens_to_issue)


def _response(
    confirmation: Confirmation,
    issued: tokens.IssuedTokens,
    signed_id_token: str | None,
    lifetime: int,
    tokens_to_issue: TokenGrant,
) -> TokenResponse:
    details = tokens_to_issue.claims.authorization_details
    return TokenResponse(
        access_token=issued.access_token,
        token_type=confirmation.token_type,
        expires_in=lifetime,
        expire_in=str(lifetime),
        refresh_token=issued.refresh_token,
        id_token=signed_id_token,
        scope=tokens_to_issue.scope or None,
        authorization_details=list(details) if details is not None else None,
    )


def _has_id_token(issuer: Issuer, result: GrantResult) -> bool:
    return not result.is_access_only and id_token.OPENID in result.scope and issuer.protocol is ClientProtocol.OPENID


def _scope_and_claims(
    context: Context, client: Application, issuer: Issuer, result: GrantResult
) -> tuple[tuple[str, ...], TokenClaims]:
    """Return the scope of the access token, and the claims to store with it."""
    scope = resource_indicators.narrow_scope(context, client, result.scope, result.resource)
    full_scope = result.claims.granted
    if scope != result.scope and full_scope is None:
        full_scope = " ".join(result.scope)
    return scope, replace(
        result.claims,
        issuer=issuer.url,
        gty=result.kind,
        aud=tuple(resource_indicators.audience(context, client, scope, result.resource)),
        granted=full_scope,
        sid=None,
        cnf=result.confirmation.cnf,
    )


def _signed_access_token(
    context: Context,
    client: Application,
    result: GrantResult,
    account: Account | None,
    lifetime: int,
    roles: Mapping[str, Any],
) -> str | None:
    """Return a JWT access token (RFC 9068 section 2) with the mapped claims (section 2.2.2) and those of roles (section 2.2.3.1).

    Its digest is stored like an opaque token's, so that it can be revoked. None for a client that gets opaque tokens.
    """
    if client.settings.access_token_format != "jwt":
        return None
    claims, now = result.claims, int(context.now.timestamp())
    mapping, audience = client.settings.claims_mapping.access_token, claims.aud or ()
    payload: dict[str, Any] = {
        **claims.added,
        **(mapped_claims.of_token(account, mapping, account_claims.withheld(result.scope)) if mapping else {}),
        **roles,
        "iss": claims.issuer,
        "sub": subjects.of(context, client, result.uid) if result.uid else client.client_id,
        "aud": audience[0] if len(audience) == 1 else list(audience),
        "client_id": client.client_id,
        "iat": now,
        "exp": now + lifetime,
        "jti": randomness.token(18),
        "scope": " ".join(result.scope),
    }
    payload.update(organization_claims.of_token(result.membership, client, result.scope))
    payload.update(id_token.authentication_claims(claims))
    bound = {"cnf": claims.cnf, "authorization_details": claims.authorization_details}
    payload.update({name: value for name, value in bound.items() if value is not None})
    if result.claims.act is not None:
        payload["act"] = subjects.actors_of(context, client, result.claims.act)
    algorithm = client.settings.access_token_signing_alg
    return context.services.signing_keys.sign(context.work, payload, machine_tokens.KIND, algorithm)
