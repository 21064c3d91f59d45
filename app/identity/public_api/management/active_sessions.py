"""The list of an account's access tokens, with the browser or device that each came from."""

from __future__ import annotations

from app.contract import errors
from app.contract.sessions import session_operations
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import accounts
from app.identity.platform.context import Context, TokenHolder
from app.kit.clock import iso
from app.kit.web.user_agents import parse_user_agent


@session_operations.active_sessions.implements
def active_sessions(context: Context, req: session_operations.ListSessions) -> session_operations.ActiveSessions:
    return session_operations.ActiveSessions(data=_valid_tokens(context, req))


def _valid_tokens(context: Context, req: session_operations.ListSessions) -> list[session_operations.ActiveSession]:
    """Return the valid tokens of the account that the request names.

    Raises IdentifierMissing without a name, InvalidAccessToken for an unknown token, UnknownUid for an unknown account,
    SessionExpired if none is valid.
    """
    holders = tokens.by_account(context, _listed_uid(context, req))
    if not holders:
        raise errors.SessionExpired
    browsers = {session.session_id: session for session in sessions.of_account(context, holders[0].uid)}
    return [_active_session(context, holder, browsers.get(_session_id(holder))) for holder in holders]


def _listed_uid(context: Context, req: session_operations.ListSessions) -> str:
    if req.token:
        holder = tokens.find(context, req.token)
        if holder is None or holder.expires_at <= context.now:
            raise errors.InvalidAccessToken
        return holder.uid
    if req.account_id:
        return accounts.require(context, req.account_id).uid
    if req.profile_id:
        return accounts.require_by_profile_id(context, req.profile_id).uid
    if "profileid" in {name.lower() for name, _ in context.raw.query_pairs}:
        raise errors.ProfileIdMissing
    raise errors.IdentifierMissing


def _session_id(holder: TokenHolder) -> str:
    """Return the id of the token's session; also for a token that outlives it."""
    return holder.session_id or (holder.claims.sid or "")


def _active_session(
    context: Context, holder: TokenHolder, browser: BrowserSession | None
) -> session_operations.ActiveSession:
    """Return an entry: a token of the interface's own sign-ins knows its device, one of an application is of its browser session."""
    address = holder.claims.address or (browser.address if browser else "")
    agent = parse_user_agent(holder.claims.agent or (browser.agent if browser else ""))
    place = context.services.locations.place_of(address)
    return session_operations.ActiveSession(
        access_token=holder.token_hash,
        browser=agent.browser,
        device=agent.device,
        os=agent.system,
        device_type=agent.device_type,
        city=place.city or None,
        country=place.country or None,
        ip=address or None,
        login_date=iso(holder.issued_at),
    )
