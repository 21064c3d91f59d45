"""The browser's session at the hub, which sites of the tenant share (decision 0232).

For sites of the whitelist, if the tenant enabled it: a site reads the signed-in account, gets an access token of the session,
begins a session by an access token, or ends the session.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from app.contract import errors
from app.contract.error_groups import WORKFLOW_REFUSALS
from app.contract.sessions.models import Session
from app.contract.sessions.pages import web_sso_pages
from app.contract.sessions.pages.sign_out_pages import SignOutRequest
from app.identity.authentication.federation import token_handoff
from app.identity.authentication.sign_in import required_actions
from app.identity.authentication.sign_in.sessions import browser_sessions, sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows.tokens import token_workflows
from app.identity.credentials.tokens import token_store, tokens
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, can_sign_in_now
from app.identity.directory.tenants.urls.allowed_urls import is_allowed, is_own
from app.identity.pages_api.oauth import sign_out
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.continuation_tokens import ContinuationPurpose, TokenExists
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from app.kit.web.urls import sent_origin

_TOKENS: Final = Rate(30, 60)
"""Access tokens of one session."""


@web_sso_pages.read.implements
def read_shared_session(context: Context, req: web_sso_pages.SharedSessionRequest) -> web_sso_pages.SharedSession:
    _require_site(context, req.origin)
    session, account = _signed_in(context)
    if session is None or account is None:
        return web_sso_pages.SharedSession()
    sessions.touch(context, session)
    token = None
    if req.with_token:
        context.count_against("shared_session", _TOKENS, session.session_id)
        ends_with = (session.session_id, session.expires_at)
        token = token_handoff.access_token(context, account, session.methods, "Email", ends_with).access_token
        context.audit.record("shared_session.token", uid=account.uid, origin=req.origin)
    seconds = int((session.expires_at - context.now).total_seconds()) if session.is_remembered else None
    return web_sso_pages.SharedSession(
        is_authenticated=True, token=token, renewed_seconds=seconds if req.refreshes else None
    )


@web_sso_pages.start.implements
def start_shared_session(context: Context, req: web_sso_pages.SessionByToken) -> web_sso_pages.TokenAccepted:
    """Begin a session that is no more than the token: no later authentication, no longer life than the token's family.

    A browser that is signed in stays as it is: nothing here exchanges its account.
    """
    _require_site(context, req.origin)
    if req.api_key.lower() != context.tenant.api_key.lower():
        raise errors.UnknownKey
    if req.callback is not None and (not is_allowed(context, req.callback) or is_own(context, req.callback)):
        raise errors.EndpointForbidden
    holder = _holder(context, req.token)
    account = account_store.by_uid(context, holder.uid) if holder is not None else None
    if (
        holder is None
        or account is None
        or not (_may_sign_in(context, account) and _passes_workflow(context, account, holder))
    ):
        return web_sso_pages.TokenAccepted()
    current = sessions.current(context)
    if current is not None:
        return web_sso_pages.TokenAccepted(is_token_valid=current.uid == account.uid)
    stored = {item.session.uid for item in browser_sessions.all_sessions(context)}
    if stored and account.uid not in stored:
        return web_sso_pages.TokenAccepted()
    session = _start_session(context, holder, account, req)
    return web_sso_pages.TokenAccepted(is_token_valid=session is not None, session=session)


@web_sso_pages.end.implements
def end_shared_session(context: Context, req: web_sso_pages.SharedSignOut) -> web_sso_pages.SignedOut:
    _require_site(context, req.origin)
    step = sign_out.sign_out(context, SignOutRequest(confirmed=True))
    return web_sso_pages.SignedOut(ends_session=step.ends_session)


def _require_site(context: Context, origin: str) -> None:
    """Raise EndpointForbidden unless the tenant shares its sessions, and with this site."""
    context.count_request("shared_session_network", context.tenant.settings.limits.web_sso_per_minute_per_address)
    is_site = not origin or (sent_origin(origin) and is_allowed(context, origin))
    if not (context.tenant.settings.web_sso and is_site):
        raise errors.EndpointForbidden


def _signed_in(context: Context) -> tuple[BrowserSession | None, Account | None]:
    """Return the session and its account, if it needs nothing more before it counts."""
    session = sessions.current(context)
    if session is None or required_actions.find_first(context, session) is not None:
        return None, None
    account = account_store.by_uid(context, session.uid)
    return (session, account) if account is not None and can_sign_in_now(account) else (None, None)


def _may_sign_in(context: Context, account: Account) -> bool:
    return can_sign_in_now(account) and required_actions.are_met(context, account)


def _passes_workflow(context: Context, account: Account, holder: TokenHolder) -> bool:
    try:
        token_workflows.admitted(context, account, holder.claims)
    except WORKFLOW_REFUSALS:
        return False
    return True


def _holder(context: Context, text: str) -> TokenHolder | None:
    """Return the account of a token of the API's own sign-ins: not an application's, not a bound one, and not an impersonation's."""
    holder = token_store.access(context.work, randomness.digest(text)) if text else None
    if holder is None or holder.client_id is not None or not holder.uid or holder.expires_at <= context.now:
        return None
    is_whole = holder.claims.cnf is None and holder.claims.unfinished_sign_in is None
    return holder if is_whole and holder.actor is None and tokens.is_member(context, holder) else None


def _start_session(
    context: Context, holder: TokenHolder, account: Account, req: web_sso_pages.SessionByToken
) -> Session | None:
    """Begin the session; None for a token that began one before, because it stood in an address."""
    last = tokens.absolute_end(context, holder.claims, holder.issued_at)
    try:
        continuation_tokens.issue(
            context, ContinuationPurpose.SHARED_TOKEN, account.uid, lifetime=last - context.now + timedelta(seconds=1),
            text=holder.token_hash,
        )  # fmt: skip
    except TokenExists:
        return None
    session, text = sessions.start(
        context,
        account.uid,
        holder.claims.amr or (),
        req.remember and context.tenant.settings.remember_me,
        authenticated_at=datetime.fromtimestamp(holder.claims.auth_time or 0, UTC),
        ends_at=last,
    )
    context.audit.record("shared_session.begun", uid=account.uid, origin=req.origin)
    seconds = int((session.expires_at - context.now).total_seconds()) if session.is_remembered else None
    return Session(token=text, lifetime_seconds=seconds)
