"""The operations of access and refresh tokens outside OAuth."""

from __future__ import annotations

from app.contract import errors
from app.contract.error_groups import WORKFLOW_REFUSALS
from app.contract.sessions import session_operations
from app.contract.sessions.session_operations import Token
from app.contract.shared_parameters import AccessTokenQuery, Uid
from app.contract.shared_responses import Deleted, Posted
from app.identity.authentication.federation import token_handoff
from app.identity.authentication.sign_in.workflows.tokens import token_workflows
from app.identity.credentials.tokens import token_store, tokens
from app.identity.credentials.tokens.tokens import TokenGrant
from app.identity.directory.accounts import account_store, accounts
from app.identity.directory.accounts.account import can_sign_in
from app.identity.directory.organizations import active_policies
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.token_claims import TokenClaims
from app.kit import randomness
from app.kit.clock import iso


@session_operations.info.implements
def info(context: Context, req: AccessTokenQuery) -> session_operations.TokenFacts:
    claims = context.token_holder.claims
    return session_operations.TokenFacts(
        provider=claims.provider or "Email",
        access_token=context.token_holder.token,
        isrememberme=bool(claims.remember_me),
        act=session_operations.Actor(sub=context.token_holder.actor) if context.token_holder.actor else None,
    )


@session_operations.validate.implements
def validate(context: Context, req: AccessTokenQuery) -> Token:
    return _token(context.token_holder)


@session_operations.invalidate.implements
def invalidate(context: Context, req: session_operations.RevokeOwnToken) -> Posted:
    _revoke(context, context.token_holder.token_hash, req.prevent_refresh)
    context.audit.record("token.ended", uid=context.token_holder.uid)
    return Posted()


@session_operations.slide.implements
def slide(context: Context, req: AccessTokenQuery) -> Token:
    """Extend the token, unless the workflow in force judges refreshes and denies this one."""
    account, holder = accounts.of_token(context), context.token_holder
    if account is None or not can_sign_in(account):
        raise errors.NotAuthenticated
    if token_workflows.runs_on_refresh(context):
        token_workflows.refreshed(context, account, holder.claims)
    return Token(access_token=holder.token, expires_in=iso(tokens.slide(context, holder)) or "")


@session_operations.exchange.implements
def exchange_request_token(context: Context, req: session_operations.RequestToken) -> Token:
    if not req.token:
        raise errors.BadParameter.names("token")
    return _token_pair(token_handoff.exchange(context, req.token))


@session_operations.impersonate.implements
def impersonate(context: Context, req: session_operations.Impersonate) -> Token:
    """Issue tokens that name the actor (RFC 8693 section 4.1); the audit log names it too."""
    account = accounts.require(context, req.uid)
    if not account.is_active or account.is_deleted:
        raise errors.AccountBlocked
    if account.login_disabled:
        raise errors.LoginDisabled
    actor = str(context.machine["sub"]) if context.machine is not None else f"{context.tenant.name}@server"
    claims = TokenClaims(provider="Email", agent=context.agent, address=context.ip_address, act={"sub": actor})
    issued = tokens.issue(context, TokenGrant(uid=account.uid, claims=claims))
    context.audit.record("token.impersonated", uid=account.uid, act=actor)
    return _token_pair(issued)


def _judged_by_workflow(context: Context, refresh_token: str) -> TokenClaims | None:
    """Return the claims after the workflow that refreshes run; None where none does. Raises WrongRefreshToken."""
    try:
        if not token_workflows.runs_on_refresh(context):
            return None
        row = token_store.refresh(context.work, randomness.digest(refresh_token))
        is_own = row is not None and row.client_id is None and row.uid is not None
        account = account_store.by_uid(context, row.uid) if row is not None and is_own else None
        if row is None or account is None:
            return None
        return token_workflows.refreshed(context, account, TokenClaims.from_stored(row.facts))
    except WORKFLOW_REFUSALS:
        raise errors.WrongRefreshToken from None


@session_operations.refresh.implements
def refresh(context: Context, req: session_operations.RefreshToken) -> Token:
    judged = _judged_by_workflow(context, req.refresh_token)
    try:
        reuse_seconds = context.tenant.settings.refresh_token_reuse_seconds or 0
        spent = tokens.rotate(context, req.refresh_token, client_id=None, reuse_seconds=reuse_seconds)
    except tokens.RefreshRefused:
        raise errors.WrongRefreshToken from None
    account = account_store.by_uid(context, spent.uid) if spent.uid else None
    if account is None or not can_sign_in(account):
        raise errors.WrongRefreshToken
    access, refreshing = active_policies.shortest_lifetimes(context, account)
    grant = TokenGrant(
        uid=account.uid,
        claims=judged or spent.claims,
        session_id=spent.session_id,
        scope=spent.scope,
        family_id=spent.family_id,
        access_seconds=access,
        refresh_seconds=refreshing,
    )
    issued = tokens.issue(context, grant)
    tokens.record_repeated(context, spent)
    return _token_pair(issued)


@session_operations.revoke_refresh.implements
def revoke_refresh(context: Context, req: session_operations.RefreshToken) -> Deleted:
    if not tokens.revoke_refresh(context, req.refresh_token):
        raise errors.WrongRefreshToken
    return Deleted()


@session_operations.revoke_refresh_of_account.implements
def revoke_refresh_of_account(context: Context, req: Uid) -> Deleted:
    account = accounts.require(context, req.uid)
    tokens.revoke_refresh_of_account(context, account.uid)
    context.audit.record("refresh_tokens.ended", uid=account.uid)
    return Deleted()


@session_operations.validate_shown.implements
def validate_shown(context: Context, req: session_operations.PresentedTokenQuery) -> Token:
    holder = _require_token(context, req.access_token)
    if holder.expires_at <= context.now:
        raise errors.ExpiredAccessToken
    return _token(holder)


@session_operations.invalidate_shown.implements
def invalidate_shown(context: Context, req: session_operations.RevokePresentedToken) -> session_operations.TokenRevoked:
    """Accepts a token's text, or its handle in the list of active sessions."""
    if not req.access_token:
        raise errors.MissingAccessToken
    holder = tokens.find(context, req.access_token)
    if not _revoke(context, holder.token_hash if holder else req.access_token, req.prevent_refresh):
        raise errors.InvalidAccessToken
    context.audit.record("token.ended", uid=holder.uid if holder else None)
    return session_operations.TokenRevoked()


@session_operations.refresh_shown.implements
def refresh_shown(context: Context, req: session_operations.ExtendPresentedToken) -> Token:
    holder = _require_token(context, req.access_token)
    account = account_store.by_uid(context, holder.uid)
    if holder.expires_at <= context.now or account is None or not can_sign_in(account):
        raise errors.InvalidAccessToken
    return Token(access_token=holder.token, expires_in=iso(tokens.prolong(context, holder, req.expires_in)) or "")


def _require_token(context: Context, access_token: str | None) -> TokenHolder:
    if not access_token:
        raise errors.MissingAccessToken
    holder = tokens.find(context, access_token)
    if holder is None:
        raise errors.InvalidAccessToken
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
