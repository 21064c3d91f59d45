"""The one-time code of a return address, which the tenant's server exchanges for a token."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.contract import errors
from app.contract.sessions import session_operations
from app.contract.sessions.session_operations import Token
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials.tokens import tokens
from app.identity.credentials.tokens.tokens import TokenGrant
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import can_sign_in
from app.identity.directory.organizations import active_policies
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.platform.token_claims import TokenClaims
from app.kit.clock import iso

LIFETIME: Final = timedelta(minutes=2)


def issue(context: Context, session: BrowserSession) -> str:
    """Return a code for the session of a complete sign-in."""
    facts = {"session": session.session_id, "agent": context.agent, "address": context.ip_address}
    return continuation_tokens.issue(
        context, ContinuationPurpose.RETURN_CODE, session.uid, lifetime=LIFETIME, facts=facts
    ).text


@session_operations.exchange_code.implements
def exchange(context: Context, req: session_operations.ReturnCode) -> Token:
    """Use up a code. Only one concurrent call succeeds. The token ends with the browser session; a code without its session is void."""
    code = continuation_tokens.find(context, ContinuationPurpose.RETURN_CODE, req.code)
    if code is None:
        raise errors.WrongRequestToken
    if code.is_expired(context.now):
        raise errors.ExpiredRequestToken
    account_store.lock_unread(context, code.uid)
    session_id = str(code.facts["session"])
    live = sessions.lock_live(context, session_id)
    is_open = live is not None and live.account is not None and can_sign_in(live.account)
    if live is None or not is_open or not continuation_tokens.spend(context, code):
        raise errors.WrongRequestToken
    context.audit.record("return_code.exchanged", uid=code.uid)
    claims = TokenClaims(
        provider="Email",
        agent=code.facts["agent"],
        address=code.facts["address"],
        ends_at=int(live.ends_at.timestamp()),
    )
    access, _ = active_policies.shortest_lifetimes_of(context, code.uid)
    grant = TokenGrant(
        uid=code.uid, claims=claims, session_id=session_id, access_seconds=access, has_refresh_token=False
    )
    issued = tokens.issue(context, grant)
    return Token(access_token=issued.access_token, expires_in=iso(issued.access_expires_at) or "")
