"""Handoff of a browser's sign-in to a program.

A browser that a program's link redirected returns to it with a *request token*, which the program's server exchanges,
or with a *candidate*, an identity that an account may be linked to. Without a callback the program polls with a
*client GUID* of its own: any holder of the GUID gets what the browser finished, so the visitor must have confirmed it
on our page.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.passwordless.smart_login_operations import GUID
from app.identity.credentials.tokens import tokens
from app.identity.credentials.tokens.tokens import IssuedTokens, TokenGrant
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, can_sign_in_now
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.directory.organizations import active_policies
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.platform.token_claims import TokenClaims

LIFETIME: Final = timedelta(minutes=15)
KINDS: Final = (ContinuationPurpose.REQUEST_TOKEN, ContinuationPurpose.CLIENT_GUID)
"""The purposes of tokens for a sign-in, which are revoked with the account's sessions."""
USED: Final = "used"
_GUID: Final = re.compile(GUID.removesuffix("$") + r"\Z")


def access_token(
    context: Context, account: Account, methods: tuple[str, ...], provider: str, ends_with: tuple[str, datetime]
) -> IssuedTokens:
    """Return an access token for an account whose sign-in in this browser is complete.

    Args:
        ends_with: the browser's session and its absolute end.
    """
    session_id, ends_at = ends_with
    claims = replace(_token_claims(context, methods, provider), ends_at=int(ends_at.timestamp()))
    access, _ = active_policies.shortest_lifetimes(context, account)
    grant = TokenGrant(
        uid=account.uid, claims=claims, session_id=session_id, access_seconds=access, has_refresh_token=False
    )
    return tokens.issue(context, grant)


def request_token(context: Context, account: Account, methods: tuple[str, ...], provider: str) -> str:
    """Return a token of a complete sign-in that the program's server exchanges once."""
    facts = _token_claims(context, methods, provider).to_stored()
    return continuation_tokens.issue(
        context, ContinuationPurpose.REQUEST_TOKEN, account.uid, lifetime=LIFETIME, facts=facts
    ).text


def exchange(context: Context, text: str) -> IssuedTokens:
    """Use up a request token. Only one of several concurrent calls succeeds. Raises WrongRequestToken, ExpiredRequestToken."""
    token = continuation_tokens.find(context, ContinuationPurpose.REQUEST_TOKEN, text)
    if token is None:
        raise errors.WrongRequestToken
    if token.is_expired(context.now):
        raise errors.ExpiredRequestToken
    account = account_store.by_uid(context, token.uid)
    if not _can_sign_in(account) or not continuation_tokens.spend(context, token):
        raise errors.WrongRequestToken
    context.audit.record("request_token.exchanged", uid=token.uid)
    access, refresh = active_policies.shortest_lifetimes(context, account)
    claims = TokenClaims.from_stored(token.facts)
    grant = TokenGrant(uid=token.uid, claims=claims, access_seconds=access, refresh_seconds=refresh)
    return tokens.issue(context, grant)


def create_candidate(context: Context, identity: ProviderIdentity) -> str:
    """Return a token for an identity until an account is linked to it."""
    return continuation_tokens.issue(
        context, ContinuationPurpose.CANDIDATE, NO_ACCOUNT, lifetime=LIFETIME, facts=identity.to_facts()
    ).text


def find_candidate(context: Context, text: str) -> tuple[ProviderIdentity, ContinuationToken] | None:
    """Return the identity of a candidate and its token to spend; None if it is no longer valid."""
    token = continuation_tokens.find(context, ContinuationPurpose.CANDIDATE, text)
    return (ProviderIdentity(**token.facts), token) if token is not None and not token.is_expired(context.now) else None


def register_guid(context: Context, guid: str, *, links: bool) -> None:
    """Store that a program polls with its own GUID for the sign-in that this browser begins.

    Args:
        links: whether the program wants an identity to link, without a sign-in.

    Raises:
        NoCallbackLoginOff: the tenant disabled sign-ins without a callback.
        WrongClientGuid: the GUID can be guessed.
        ClientGuidTaken: the GUID was used before.
    """
    require_enabled(context)
    if not _GUID.match(guid):
        raise errors.WrongClientGuid
    facts = {"links": links, "is_finished": False}
    try:
        continuation_tokens.issue(
            context, ContinuationPurpose.CLIENT_GUID, NO_ACCOUNT, lifetime=LIFETIME, facts=facts, text=guid
        )
    except continuation_tokens.TokenExists:
        raise errors.ClientGuidTaken from None


def finish_sign_in(context: Context, guid: str, account: Account, methods: tuple[str, ...], provider: str) -> bool:
    """Give the program the session of a complete sign-in; False if it no longer polls, or wants to link."""
    facts = _token_claims(context, methods, provider).to_stored()
    return _finish(context, guid, account.uid, facts, links=False)


def finish_link(context: Context, guid: str, identity: ProviderIdentity) -> bool:
    """Give the program an identity to link; False if it no longer polls, or wants a session."""
    return _finish(context, guid, NO_ACCOUNT, {"claimed": identity.to_facts()}, links=True)


def find_finished(context: Context, guid: str) -> ContinuationToken:
    """Return the token of a GUID whose browser has finished.

    Raises:
        NoCallbackLoginOff.
        WrongClientGuid: unknown, expired, used, or the browser is not back yet.
    """
    require_enabled(context)
    token = continuation_tokens.find(context, ContinuationPurpose.CLIENT_GUID, guid)
    if token is None or token.is_expired(context.now) or not token.facts["is_finished"] or token.state == USED:
        raise errors.WrongClientGuid
    return token


def identity_for(token: ContinuationToken) -> ProviderIdentity | None:
    """Return the identity of a finished GUID; None for a sign-in."""
    return ProviderIdentity(**token.facts["claimed"]) if token.facts["links"] else None


def redeem_sign_in(context: Context, token: ContinuationToken) -> tuple[Account, tuple[str, ...], str]:
    """Use up a finished GUID, and return the account, its methods and its provider. Raises WrongClientGuid."""
    if token.facts["links"]:
        raise errors.WrongClientGuid
    # lock the account first, as every request does, against deadlocks
    account = account_store.lock(context, token.uid)
    if account is None or not _can_sign_in(account):
        raise errors.WrongClientGuid
    spend(context, token)
    return account, tuple(token.facts["amr"]), str(token.facts["provider"])


def spend(context: Context, token: ContinuationToken) -> None:
    """Use up a finished GUID. Only one of several concurrent calls succeeds; raises WrongClientGuid."""
    if not continuation_tokens.change_state(context, token, USED, claimed=None):
        raise errors.WrongClientGuid


def require_enabled(context: Context) -> None:
    """Raise NoCallbackLoginOff where the tenant disabled sign-ins without a callback."""
    if not context.tenant.settings.no_callback_login:
        raise errors.NoCallbackLoginOff


def _finish(context: Context, guid: str, uid: str, facts: dict[str, Any], *, links: bool) -> bool:
    """Replace the pending GUID by the finished one. Only one of several concurrent calls succeeds."""
    token = continuation_tokens.find(context, ContinuationPurpose.CLIENT_GUID, guid)
    if (
        token is None
        or token.facts != {"links": links, "is_finished": False}
        or not continuation_tokens.spend(context, token)
    ):
        return False
    finished = {**facts, "links": links, "is_finished": True}
    continuation_tokens.issue(
        context, ContinuationPurpose.CLIENT_GUID, uid, lifetime=LIFETIME, facts=finished, text=guid
    )
    return True


def _token_claims(context: Context, methods: tuple[str, ...], provider: str) -> TokenClaims:
    return TokenClaims(provider=provider, agent=context.agent, address=context.ip_address, amr=methods)


def _can_sign_in(account: Account | None) -> bool:
    """Return whether an account may sign in now. A new password ends its tokens with its sessions."""
    return account is not None and can_sign_in_now(account)
