"""Introspection (RFC 7662) and revocation (RFC 7009)."""

from __future__ import annotations

from typing import Any

from app.contract.errors_oauth import InvalidClient, InvalidRequest
from app.contract.oauth_tokens import IntrospectionRequest, IntrospectionResponse, RevocationRequest
from app.contract.tokens import Actor
from app.identity.authentication.sign_in import sessions
from app.identity.credentials.tokens import service as tokens
from app.identity.credentials.tokens import store as token_store
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.tenant import Application
from app.kit import randomness

INACTIVE = IntrospectionResponse(active=False)


def introspect(context: Context, client: Application, req: IntrospectionRequest) -> IntrospectionResponse:
    """Describe a token (RFC 7662).

    A client may introspect its own tokens. A client that the tenant registered as a `resource_server` may introspect every
    access token of the tenant at the tenant-wide address, including tokens of the interface's own sign-ins; refresh tokens are
    for the authorization server alone (RFC 6749 section 1.5). Every other token is inactive, like an unknown one (section 4).

    Raises InvalidClient: a public client cannot authenticate, which section 2.1 requires.
    """
    if client.settings.is_public:
        raise InvalidClient("A public client may not introspect.")
    found = token_store.access(context.work, randomness.digest(req.token))
    if found is None:
        found = _refresh_of(context, client, req.token)
    elif found.client_id != client.client_id and not _may_ask_about_others(context, client):
        return INACTIVE
    if found is None or found.expires_at <= context.now:
        return INACTIVE
    return _described(found)


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
            sid = row.session_id or row.facts.get(tokens.SID)
            if row.uid is not None and sid is not None:
                sessions.end_for_application(context, row.uid, client.client_id, sid)
            tokens.revoke_family(context, row.family_id)
            context.audit.record("refresh_token.revoked", uid=row.uid, client_id=client.client_id)
        return
    found = token_store.access(context.work, token_hash)
    if found is not None and found.client_id == client.client_id and tokens.revoke_access(context, found.token_hash):
        context.audit.record("access_token.revoked", uid=found.uid or None, client_id=client.client_id)


def _may_ask_about_others(context: Context, client: Application) -> bool:
    return client.settings.resource_server and "app" not in context.raw.parameters


def _refresh_of(context: Context, client: Application, token: str) -> TokenHolder | None:
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
        facts=dict(row.facts),
        issued_at=row.issued_at,
        expires_at=row.expires_at,
    )


def _described(found: TokenHolder) -> IntrospectionResponse:
    facts: dict[str, Any] = found.facts
    issued = int(found.issued_at.timestamp())
    audience = facts.get("aud") or ([found.client_id] if found.client_id else None)
    return IntrospectionResponse(
        active=True,
        iss=facts.get("issuer"),
        sub=found.uid or facts.get("sub") or found.client_id,
        aud=audience,
        client_id=found.client_id,
        cid=found.client_id,
        azp=found.client_id,
        scope=found.scope or None,
        scp=found.scope.split(),
        gty=facts.get("gty"),
        token_type="Bearer",
        iat=issued,
        nbf=issued,
        exp=int(found.expires_at.timestamp()),
        jti=found.token_hash,
        act=Actor(sub=found.actor) if found.actor else None,
    )
