"""Grant token-exchange (RFC 8693): a token of an account for another audience, with less scope and no longer life.

This is delegation: a token that was issued to another application, or for an actor, names who acts in `act` (RFC 8693
section 1.1). A client that exchanges its own token only narrows it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.applications.file import TOKEN_EXCHANGE
from app.contract.oauth.oauth_errors import (
    InvalidGrant,
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
)
from app.contract.oauth.oauth_token_operations import TokenRequest, TokenResponse
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import resource_indicators
from app.identity.protocols.oauth.grants.grant import Grant
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import (
    grant_accounts,
    id_token,
    lifetimes,
    subject_tokens,
    token_response,
    workflow_claims,
)
from app.identity.protocols.oauth.tokens.grant_result import GrantResult
from app.identity.protocols.oauth.tokens.subject_tokens import (
    ACCESS_TOKEN,
    ID_TOKEN,
    JWT,
    SubjectToken,
    SubjectTokenRefused,
)

NAME = TOKEN_EXCHANGE
_NAMES = {ACCESS_TOKEN: "access_token", JWT: "access_token", ID_TOKEN: "id_token"}
"""The types as audit entries name them."""


def exchange(
    context: Context, client: Application, issuer: Issuer, req: TokenRequest, confirmation: Confirmation
) -> TokenResponse:
    """Issue one token alone, for the subject of the presented token (RFC 8693 section 2.2).

    Raises:
        InvalidRequest: a token is not valid, or the client may not present it (RFC 8693 section 2.2.2).
        InvalidTarget: the client may not request this audience.
        InvalidScope: the scope is wider than the presented token's.
    """
    kind = _requested_type(client, issuer, req)
    subject = _presented(context, client, confirmation, "subject_token", req.subject_token, req.subject_token_type)
    if subject.uid is None:
        raise InvalidRequest("The subject_token is not an account's.")
    actor = _actor(context, client, req, subject)
    act = _act(client, subject, actor)
    resource = _target(context, client, req)
    scope = context.requested_scopes = _narrowed(client, subject, req.scope)
    claims = subject_tokens.retained_claims(subject)
    claims = replace(claims, act=act) if act else claims
    ends_at = sessions.lock_expiry(context, subject.session_id) if subject.session_id is not None else None
    if ends_at is None and subject.ends_with_session:
        raise InvalidRequest("The subject_token is not valid.")  # a sign-out came between
    try:
        account = grant_accounts.active_account(context, subject.uid)
        membership = grant_accounts.active_membership(context, account.uid, claims.org_id)
    except InvalidGrant as refusal:
        raise InvalidRequest(refusal.description) from None
    claims = workflow_claims.admitted(context, client, account, claims)
    grant = GrantResult(
        kind=NAME, scope=scope, confirmation=(actor or subject).confirmation, uid=account.uid,
        session_id=subject.session_id, session_ends_at=ends_at,
        resource=resource, claims=claims, membership=membership, is_access_only=True,
    )  # fmt: skip
    if kind == ID_TOKEN:
        response = _id_token(context, client, issuer, grant, account, min(ends_at or subject.ends_at, subject.ends_at))
    else:
        response = token_response.token_response(context, client, issuer, grant, account)
    context.audit.record(
        "tokens.exchanged", uid=account.uid, client_id=client.client_id, subject_client=subject.client_id,
        audience=resource or client.client_id, actor=act.get("sub") if act else None, type=_NAMES[kind],
    )  # fmt: skip
    return response.model_copy(update={"issued_token_type": kind})


def _requested_type(client: Application, issuer: Issuer, req: TokenRequest) -> str:
    """Return the type of the token to issue (RFC 8693 section 2.1).

    An access token, which is a JWT for applications that get such; or an id_token. A refresh token would outlive the presented token.
    """
    kind = req.requested_token_type or ACCESS_TOKEN
    is_served = {
        ACCESS_TOKEN: True,
        JWT: client.settings.access_token_format == "jwt",
        ID_TOKEN: issuer.protocol is ClientProtocol.OPENID,
    }
    if not is_served.get(kind, False):
        raise InvalidRequest("The requested_token_type is not supported.")
    return kind


def _id_token(
    context: Context, client: Application, issuer: Issuer, grant: GrantResult, account: Account, until: datetime
) -> TokenResponse:
    """Return an id_token for the client itself, which is no token to call APIs with (RFC 8693 section 2.2.1).

    Raises InvalidTarget, InvalidScope.
    """
    if grant.resource is not None:
        raise InvalidTarget("An id_token is for the client itself.")
    if id_token.OPENID not in grant.scope:
        raise InvalidScope("An id_token needs the scope openid.")
    lifetime = max(1, int((until - context.now).total_seconds()))
    seconds = min(lifetime, client.settings.id_token_seconds)
    return TokenResponse(
        access_token=id_token.exchanged(context, client, issuer, grant, account, until),
        token_type="N_A",
        expires_in=seconds,
        expire_in=str(seconds),
        scope=" ".join(grant.scope),
    )


def _presented(
    context: Context, client: Application, confirmation: Confirmation, name: str, text: str | None, kind: str | None
) -> SubjectToken:
    if text is None:
        raise InvalidRequest.names(name)
    if kind is None:
        raise InvalidRequest.names(f"{name}_type")
    if kind not in subject_tokens.TYPES:
        raise InvalidRequest(f"The {name}_type is not supported.")
    try:
        return subject_tokens.read(context, client, confirmation, text, kind)
    except SubjectTokenRefused:
        raise InvalidRequest(f"The {name} is not valid.") from None


def _actor(context: Context, client: Application, req: TokenRequest, subject: SubjectToken) -> SubjectToken | None:
    """Return the token of the actor, None without one."""
    if req.actor_token is None:
        if req.actor_token_type is not None:
            raise InvalidRequest("The actor_token_type comes without an actor_token.")
        return None
    actor = _presented(context, client, subject.confirmation, "actor_token", req.actor_token, req.actor_token_type)
    if req.actor_token_type not in (ACCESS_TOKEN, JWT, ID_TOKEN) or actor.actors:
        raise InvalidRequest("The actor_token is not the actor's own.")
    if actor.uid is None and not _may_be_actor(context, client, actor, subject):
        raise InvalidRequest("The client of the actor_token may not act for the subject.")
    return actor


def _act(client: Application, subject: SubjectToken, actor: SubjectToken | None) -> dict[str, Any] | None:
    """Return the actors of the new token, the present one first (RFC 8693 section 4.1)."""
    before = subject.claims.act
    if actor is None and subject.client_id == client.client_id:
        return dict(before) if before is not None else None
    if subject.actors >= subject_tokens.MAX_ACTORS:
        raise InvalidRequest("The chain of actors is too long.")
    named = actor.subject if actor is not None else f"{client.client_id}@client"
    return {"sub": named, **({"act": before} if before is not None else {})}


def _may_be_actor(context: Context, client: Application, presented: SubjectToken, subject: SubjectToken) -> bool:
    """Return whether a client may become the actor: the presenting client, or a client that the subject's application names."""
    actor = presented.client_id
    return actor == client.client_id or subject_tokens.may_act(context, actor, subject)


def _target(context: Context, client: Application, req: TokenRequest) -> str | None:
    """Return the audience of the new token; None for the client itself (RFC 8693 section 2.1, RFC 8707 section 2)."""
    target = req.resource or req.audience
    if req.resource is not None and req.audience not in (None, req.resource):
        raise InvalidTarget("Name one audience.")
    if target in (None, client.client_id):
        return None
    api = context.services.settings.base_url
    is_ours = target == api or target.startswith(f"{api}/")
    if (resource := resource_indicators.registered_resource(context, client, target)) is not None:
        return resource
    if target in client.settings.exchange_audiences and not is_ours:
        return target
    raise InvalidTarget("The client may not request this audience.")


def _narrowed(client: Application, subject: SubjectToken, requested: str | None) -> tuple[str, ...]:
    """Return the scope: never more than the presented token has, and the client may have."""
    stored = [name for name in subject.scope if name in client.scopes and name != lifetimes.OFFLINE]
    scope = tuple(dict.fromkeys((requested or "").split()))
    if not scope:
        return tuple(stored)
    if not set(scope) <= set(stored):
        raise InvalidScope("The scope is wider than what the subject_token has and the client may have.")
    return scope


GRANT = Grant(NAME, exchange, is_confidential=True)
