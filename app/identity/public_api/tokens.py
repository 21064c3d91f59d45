"""The operations of access and refresh tokens outside OAuth."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.sessions import operations as contract
from app.contract.sessions.operations import Token
from app.contract.shared_parameters import AccessTokenQuery, Uid
from app.contract.shared_responses import Deleted, Posted
from app.identity.authentication.federation import token_handoff
from app.identity.credentials.tokens import service as tokens
from app.identity.credentials.tokens.service import TokenGrant
from app.identity.directory.accounts import service as accounts
from app.identity.directory.organizations import active_policies
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.token_claims import TokenClaims
from app.kit.clock import iso


@contract.info.implements
def info(context: Context, req: AccessTokenQuery) -> contract.TokenFacts:
    claims = context.token_holder.claims
    return contract.TokenFacts(
        provider=claims.provider or "Email",
        access_token=context.token_holder.token,
        isrememberme=bool(claims.remember_me),
        act=contract.Actor(sub=context.token_holder.actor) if context.token_holder.actor else None,
    )


@contract.validate.implements
def validate(context: Context, req: AccessTokenQuery) -> Token:
    return _token(context.token_holder)


@contract.invalidate.implements
def invalidate(context: Context, req: contract.RevokeOwnToken) -> Posted:
    _revoke(context, context.token_holder.token_hash, req.prevent_refresh)
    context.audit.record("token.ended", uid=context.token_holder.uid)
    return Posted()


@contract.slide.implements
def slide(context: Context, req: AccessTokenQuery) -> Token:
    return Token(
        access_token=context.token_holder.token, expires_in=iso(tokens.slide(context, context.token_holder)) or ""
    )


@contract.exchange.implements
def exchange_request_token(context: Context, req: contract.RequestToken) -> Token:
    if not req.token:
        raise e.BadParameter.names("token")
    return _token_pair(token_handoff.exchange(context, req.token))


@contract.impersonate.implements
def impersonate(context: Context, req: contract.Impersonate) -> Token:
    """Issue tokens that name the actor (RFC 8693 section 4.1); the audit log names it too."""
    account = accounts.require(context, req.uid)
    if not account.is_active or account.is_deleted:
        raise e.AccountBlocked
    if account.login_disabled:
        raise e.LoginDisabled
    actor = str(context.machine["sub"]) if context.machine is not None else f"{context.tenant.name}@server"
    claims = TokenClaims(provider="Email", agent=context.agent, address=context.address, act={"sub": actor})
    issued = tokens.issue(context, TokenGrant(uid=account.uid, claims=claims))
    context.audit.record("token.impersonated", uid=account.uid, act=actor)
    return _token_pair(issued)


@contract.refresh.implements
def refresh(context: Context, req: contract.RefreshToken) -> Token:
    try:
        reuse_seconds = context.tenant.settings.refresh_token_reuse_seconds or 0
        spent = tokens.rotate(context, req.refresh_token, client_id=None, reuse_seconds=reuse_seconds)
    except tokens.RefreshRefused:
        raise e.WrongRefreshToken from None
    account = accounts.by_uid(context, spent.uid) if spent.uid else None
    if account is None or not account.is_active or account.is_deleted or account.login_disabled:
        raise e.WrongRefreshToken
    access, refreshing = active_policies.shortest_lifetimes(context, account)
    grant = TokenGrant(
        uid=account.uid,
        claims=spent.claims,
        session_id=spent.session_id,
        scope=spent.scope,
        family_id=spent.family_id,
        access_seconds=access,
        refresh_seconds=refreshing,
    )
    issued = tokens.issue(context, grant)
    tokens.record_repeated(context, spent)
    return _token_pair(issued)


@contract.revoke_refresh.implements
def revoke_refresh(context: Context, req: contract.RefreshToken) -> Deleted:
    if not tokens.revoke_refresh(context, req.refresh_token):
        raise e.WrongRefreshToken
    return Deleted()


@contract.revoke_refresh_of_account.implements
def revoke_refresh_of_account(context: Context, req: Uid) -> Deleted:
    account = accounts.require(context, req.uid)
    tokens.revoke_refresh_of_account(context, account.uid)
    context.audit.record("refresh_tokens.ended", uid=account.uid)
    return Deleted()


@contract.validate_shown.implements
def validate_shown(context: Context, req: contract.PresentedTokenQuery) -> Token:
    holder = _require_token(context, req.access_token)
    if holder.expires_at <= context.now:
        raise e.ExpiredAccessToken
    return _token(holder)


@contract.invalidate_shown.implements
def invalidate_shown(context: Context, req: contract.RevokePresentedToken) -> contract.TokenRevoked:
    """Accepts a token's text, or its handle in the list of active sessions."""
    if not req.access_token:
        raise e.MissingAccessToken
    holder = tokens.find(context, req.access_token)
    if not _revoke(context, holder.token_hash if holder else req.access_token, req.prevent_refresh):
        raise e.InvalidAccessToken
    context.audit.record("token.ended", uid=holder.uid if holder else None)
    return contract.TokenRevoked()


@contract.refresh_shown.implements
def refresh_shown(context: Context, req: contract.ExtendPresentedToken) -> Token:
    holder = _require_token(context, req.access_token)
    if holder.expires_at <= context.now:
        raise e.InvalidAccessToken
    return Token(access_token=holder.token, expires_in=iso(tokens.prolong(context, holder, req.expires_in)) or "")


def _require_token(context: Context, access_token: str | None) -> TokenHolder:
    if not access_token:
        raise e.MissingAccessToken
    holder = tokens.find(context, access_token)
    if holder is None:
        raise e.InvalidAccessToken
    return holder


def _revoke(context: Context, token_hash: str, prevent_refresh: bool) -> bool:
    return (tokens.revoke_both if prevent_refresh else tokens.revoke_access)(context, token_hash)


def _token(holder: TokenHolder) -> Token:
    return Token(access_token=holder.token, expires_in=iso(holder.expires_at) or "")


def _token_pair(issued: tokens.IssuedTokens) -> Token:
    return Token(
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
    )
