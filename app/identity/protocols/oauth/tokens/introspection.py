"""Introspection (RFC 7662) and revocation (RFC 7009)."""

from __future__ import annotations

import json
from typing import Any

from joserfc import jws

from app.contract.oauth.oauth_errors import InvalidClient, InvalidRequest
from app.contract.oauth.oauth_token_operations import IntrospectionRequest, IntrospectionResponse, RevocationRequest
from app.contract.sessions.session_operations import Actor
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.tokens import token_store, tokens
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth.claims import organization_claims, subjects
from app.identity.protocols.oauth.sender_constraints import token_binding
from app.kit import randomness

INACTIVE = IntrospectionResponse(active=False)


def introspect(context: Context, client: Application, req: IntrospectionRequest) -> IntrospectionResponse:
    """Describe a token (RFC 7662).

    A client may introspect its own tokens. A client that the tenant registered as a `resource_server` may introspect every
    access token of the tenant at the tenant-wide address, including tokens that the API's own sign-ins issued; refresh tokens
    are for the authorization server alone (RFC 6749 section 1.5). Every other token is inactive, like an unknown token
    (section 4).

    Raises:
        InvalidClient: a public client cannot authenticate, which section 2.1 requires.
    """
    if client.settings.is_public:
        raise InvalidClient("A public client may not introspect.")
    holder = token_store.access(context.work, randomness.digest(req.token))
    if holder is None:
        holder = _unused_refresh_token(context, client, req.token)
    elif holder.client_id != client.client_id and not _may_introspect_all(context, client):
        return INACTIVE
    if holder is None or holder.expires_at <= context.now:
        return INACTIVE
    membership = organization_claims.membership_of(context, holder.uid, holder.claims.org_id)
    if membership is None and holder.claims.org_id is not None:
        return INACTIVE
    issued_to = context.application(client_id=holder.client_id) if holder.client_id else None
    if holder.client_id and (issued_to is None or not issued_to.settings.is_active):
        return INACTIVE
    organization = organization_claims.read(membership, issued_to, holder.scope.split())
    return _describe(context, holder, issued_to, organization, identifier=_identifier(req.token, holder))


def revoke(context: Context, client: Application, req: RevocationRequest) -> None:
    """Revoke a token of this client; ignore any other token, known or unknown.

    A refresh token, even a used one, revokes every token of its authorization (RFC 7009 section 2.1).
    """
    token = req.token or req.refresh_token
    if token is None:
        raise InvalidRequest.names("token")
    token_hash = randomness.digest(token)
    row = token_store.refresh(context.work, token_hash)
    if row is not None:
        if row.client_id == client.client_id:
            sid = row.session_id or TokenClaims.from_stored(row.facts).sid
            if row.uid is not None and sid is not None:
                sessions.end_for_application(context, row.uid, client.client_id, sid)
            tokens.revoke_family(context, row.family_id)
            context.audit.record("refresh_token.revoked", uid=row.uid, client_id=client.client_id)
        return
    holder = token_store.access(context.work, token_hash)
    if holder is not None and holder.client_id == client.client_id and tokens.revoke_access(context, holder.token_hash):
        context.audit.record("access_token.revoked", uid=holder.uid or None, client_id=client.client_id)


def _may_introspect_all(context: Context, client: Application) -> bool:
    return client.settings.resource_server and "app" not in context.raw.parameters


def _unused_refresh_token(context: Context, client: Application, token: str) -> TokenHolder | None:
    """Return the record of an unused refresh token of this client."""
    row = token_store.refresh(context.work, randomness.digest(token))
    if row is None or row.used_at is not None or row.client_id != client.client_id:
        return None
    return TokenHolder(
        uid=row.uid,
        token="",
        token_hash=row.token_hash,
        session_id=row.session_id,
        client_id=row.client_id,
        scope=row.scope,
        claims=token_binding.of_refresh_token(client, TokenClaims.from_stored(row.facts)),
        issued_at=row.issued_at,
        expires_at=row.expires_at,
    )


def _actors(context: Context, holder: TokenHolder, issued_to: Application | None) -> Actor | None:
    """Return the actors for the subject, the present actor first (RFC 8693 section 4.1)."""
    if holder.claims.act is not None:
        return Actor.model_validate(subjects.actors_of(context, issued_to, holder.claims.act))
    return Actor(sub=holder.actor) if holder.actor else None


def _identifier(token: str, holder: TokenHolder) -> str:
    """Return the `jti` inside a JWT access token (RFC 7519 section 4.1.7); an opaque token's is its digest.

    Its signature needs no check: the digest of this text is stored, so the tenant issued it.
    """
    if token.count(".") != 2:
        return holder.token_hash
    return str(json.loads(jws.extract_compact(token.encode()).payload)["jti"])


def _describe(
    context: Context,
    holder: TokenHolder,
    issued_to: Application | None,
    organization: dict[str, Any],
    *,
    identifier: str,
) -> IntrospectionResponse:
    """Return the members of a valid token, with its subject in the form of the client to which it was issued."""
    claims = holder.claims
    issued = int(holder.issued_at.timestamp())
    details = list(claims.authorization_details) if claims.authorization_details is not None else None
    audience = list(claims.aud or ()) or ([holder.client_id] if holder.client_id else None)
    described = IntrospectionResponse(
        active=True,
        iss=claims.issuer,
        sub=subjects.of(context, issued_to, holder.uid) if holder.uid else claims.sub or holder.client_id,
        aud=audience,
        client_id=holder.client_id,
        cid=holder.client_id,
        azp=holder.client_id,
        scope=holder.scope or None,
        scp=holder.scope.split(),
        gty=claims.gty,
        token_type=token_binding.type_of(claims.cnf or {}),
        cnf=dict(claims.cnf or {}) or None,
        iat=issued,
        nbf=issued,
        exp=int(holder.expires_at.timestamp()),
        jti=identifier,
        authorization_details=details,
        act=_actors(context, holder, issued_to),
        **organization,
    )
    added = {name: value for name, value in claims.added.items() if name not in IntrospectionResponse.model_fields}
    return described.model_copy(update=added)  # not parsed: their letter case counts, as in every token
