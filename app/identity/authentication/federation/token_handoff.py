"""What a program gets from a sign-in that happened in a browser (interface user.md rows U13, U14, U29, U30, account.md
row A26).

A browser that a program's link redirected returns to it with a *request token*, which the program's server exchanges,
or with a *candidate*, an identity that an account may be linked to. Without a callback the program polls with a
*client GUID* of its own: any holder of the GUID gets what the browser finished, so the visitor must have confirmed it
on our page.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Final

from app.contract import errors as e
from app.contract.smart_login import GUID
from app.identity.credentials.tokens import service as tokens
from app.identity.credentials.tokens.service import IssuedTokens
from app.identity.directory.accounts import store as accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import NO_ACCOUNT, ContinuationPurpose, ContinuationToken

LIFETIME: Final = timedelta(minutes=15)
KINDS: Final = (ContinuationPurpose.REQUEST_TOKEN, ContinuationPurpose.CLIENT_GUID)
"""The purposes of tokens that stand for a sign-in, revoked with the account's sessions."""
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
    facts = {**_token_facts(context, methods, provider), tokens.ENDS_AT: int(ends_at.timestamp())}
    return tokens.issue(context, uid=account.uid, session_id=session_id, facts=facts, with_refresh=False)


def request_token(context: Context, account: Account, methods: tuple[str, ...], provider: str) -> str:
    """Return a token of a complete sign-in that the program's server exchanges once."""
    facts = _token_facts(context, methods, provider)
    return continuation_tokens.issue(
        context, ContinuationPurpose.REQUEST_TOKEN, account.uid, lifetime=LIFETIME, facts=facts
    ).text


def exchange(context: Context, text: str) -> IssuedTokens:
    """Use a request token up. One of several concurrent calls wins. Raises WrongRequestToken, ExpiredRequestToken."""
    found = continuation_tokens.find(context, ContinuationPurpose.REQUEST_TOKEN, text)
    if found is None:
        raise e.WrongRequestToken
    if found.is_expired(context.now):
        raise e.ExpiredRequestToken
    if not _can_sign_in(accounts.by_uid(context, found.uid)) or not continuation_tokens.spend(context, found):
        raise e.WrongRequestToken
    context.audit.record("request_token.exchanged", uid=found.uid)
    return tokens.issue(context, uid=found.uid, facts=dict(found.facts))


def create_candidate(context: Context, claimed: ProviderIdentity) -> str:
    """Return a token for an identity until an account is linked to it."""
    return continuation_tokens.issue(
        context, ContinuationPurpose.CANDIDATE, NO_ACCOUNT, lifetime=LIFETIME, facts=asdict(claimed)
    ).text


def find_candidate(context: Context, text: str) -> tuple[ProviderIdentity, ContinuationToken] | None:
    """Return the identity of a candidate and its token to spend; None where it is not valid any more."""
    found = continuation_tokens.find(context, ContinuationPurpose.CANDIDATE, text)
    return (ProviderIdentity(**found.facts), found) if found is not None and not found.is_expired(context.now) else None


def register_guid(context: Context, guid: str, *, links: bool) -> None:
    """Store that a program polls with its own GUID for what this browser begins.

    Args:
        links: whether the program wants an identity to link, without a sign-in.

    Raises:
        NoCallbackLoginOff: the tenant disabled sign-ins without a callback.
        WrongClientGuid: it could be guessed.
        ClientGuidTaken: it was used before.
    """
    require_enabled(context)
    if not _GUID.match(guid):
        raise e.WrongClientGuid
    waits = {"links": links, "is_finished": False}
    try:
        continuation_tokens.issue(
            context, ContinuationPurpose.CLIENT_GUID, NO_ACCOUNT, lifetime=LIFETIME, facts=waits, text=guid
        )
    except continuation_tokens.TokenExists:
        raise e.ClientGuidTaken from None


def finish_sign_in(context: Context, guid: str, account: Account, methods: tuple[str, ...], provider: str) -> bool:
    """Give the program the session of a complete sign-in; False where it no longer polls, or wants to link."""
    return _finish(context, guid, account.uid, _token_facts(context, methods, provider), links=False)


def finish_link(context: Context, guid: str, claimed: ProviderIdentity) -> bool:
    """Give the program an identity to link; False where it no longer polls, or wants a session."""
    return _finish(context, guid, NO_ACCOUNT, {"claimed": asdict(claimed)}, links=True)


def find_finished(context: Context, guid: str) -> ContinuationToken:
    """Return what the browser finished.

    Raises NoCallbackLoginOff; WrongClientGuid: unknown, expired, used, or the browser is not back yet.
    """
    require_enabled(context)
    held = continuation_tokens.find(context, ContinuationPurpose.CLIENT_GUID, guid)
    if held is None or held.is_expired(context.now) or not held.facts["is_finished"] or held.state == USED:
        raise e.WrongClientGuid
    return held


def identity_for(held: ContinuationToken) -> ProviderIdentity | None:
    """Return the identity of a finished GUID; None where it is a sign-in."""
    return ProviderIdentity(**held.facts["claimed"]) if held.facts["links"] else None


def redeem_sign_in(context: Context, held: ContinuationToken) -> tuple[Account, tuple[str, ...], str]:
    """Use a finished GUID up, and return the account, its methods and its provider. Raises WrongClientGuid."""
    if held.facts["links"]:
        raise e.WrongClientGuid
    account = accounts.change(context, held.uid, {})  # every request locks the account first, against deadlocks
    if account is None or not _can_sign_in(account):
        raise e.WrongClientGuid
    spend(context, held)
    return account, tuple(held.facts["amr"]), str(held.facts["provider"])


def spend(context: Context, held: ContinuationToken) -> None:
    """Use a finished GUID up. One of several concurrent calls wins; raises WrongClientGuid."""
    if not continuation_tokens.change_state(context, held, USED, claimed=None):
        raise e.WrongClientGuid


def require_enabled(context: Context) -> None:
    """Raise 1160 where the tenant disabled sign-ins without a callback."""
    if not context.tenant.settings.no_callback_login:
        raise e.NoCallbackLoginOff


def _finish(context: Context, guid: str, uid: str, facts: dict[str, Any], *, links: bool) -> bool:
    """Replace the waiting GUID by what was finished. One of several concurrent calls wins."""
    held = continuation_tokens.find(context, ContinuationPurpose.CLIENT_GUID, guid)
    if (
        held is None
        or held.facts != {"links": links, "is_finished": False}
        or not continuation_tokens.spend(context, held)
    ):
        return False
    kept = {**facts, "links": links, "is_finished": True}
    continuation_tokens.issue(context, ContinuationPurpose.CLIENT_GUID, uid, lifetime=LIFETIME, facts=kept, text=guid)
    return True


def _token_facts(context: Context, methods: tuple[str, ...], provider: str) -> dict[str, Any]:
    return {"provider": provider, "agent": context.agent, "address": context.address, "amr": list(methods)}


def _can_sign_in(account: Account | None) -> bool:
    """Return whether an account may sign in now. A new password ends its tokens with its sessions."""
    if account is None or not account.is_active or account.is_deleted:
        return False
    return not account.login_disabled and not account.is_locked_now
