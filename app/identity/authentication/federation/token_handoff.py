"""What a program gets of a sign-in that happened in a browser (interface user.md rows U13, U14, U29, U30, account.md row A26).

A browser that was led away by a program's link goes back to it with a *request token*, which the program's server exchanges, or
with a *candidate*, an identity that an account may be linked to. Without a callback the program asks by a *client GUID* of its own
making: whoever knows that gets what the browser finished, so that whoever sits there must have said yes to it on our page.
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
"""Of what stands for somebody's sign-in: it ends with their sessions."""
USED: Final = "used"
_GUID: Final = re.compile(GUID.removesuffix("$") + r"\Z")


def access_token(
    context: Context, account: Account, methods: tuple[str, ...], provider: str, ends_with: tuple[str, datetime]
) -> IssuedTokens:
    """Return an access token of the interface for an account whose sign-in in this browser is complete.

    Args:
        ends_with: the browser's session and its absolute end.
    """
    session_id, ends_at = ends_with
    facts = {**_token_facts(context, methods, provider), tokens.ENDS_AT: int(ends_at.timestamp())}
    return tokens.issue(context, uid=account.uid, session_id=session_id, facts=facts, with_refresh=False)


def request_token(context: Context, account: Account, methods: tuple[str, ...], provider: str) -> str:
    """Return a text that the program's server exchanges for tokens, once, of somebody whose sign-in is whole."""
    facts = _token_facts(context, methods, provider)
    return continuation_tokens.issue(
        context, ContinuationPurpose.REQUEST_TOKEN, account.uid, lifetime=LIFETIME, facts=facts
    ).text


def exchange(context: Context, text: str) -> IssuedTokens:
    """Use a request token up. Of many at once one wins. Raises WrongRequestToken, ExpiredRequestToken."""
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
    """Return a text that stands for an identity until an account is linked to it."""
    return continuation_tokens.issue(
        context, ContinuationPurpose.CANDIDATE, NO_ACCOUNT, lifetime=LIFETIME, facts=asdict(claimed)
    ).text


def find_candidate(context: Context, text: str) -> tuple[ProviderIdentity, ContinuationToken] | None:
    """Return the identity that a text stands for, with the ticket to spend; None where it stands for none any more."""
    found = continuation_tokens.find(context, ContinuationPurpose.CANDIDATE, text)
    return (ProviderIdentity(**found.facts), found) if found is not None and not found.is_expired(context.now) else None


def register_guid(context: Context, guid: str, *, links: bool) -> None:
    """Keep that a program asks by a GUID of its own for what this browser begins.

    Args:
        links: whether it wants an identity to link, and nobody is signed in.

    Raises:
        NoCallbackLoginOff: the tenant has no sign-ins without a callback.
        WrongClientGuid: it could be guessed. ClientGuidTaken: it was used before.
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
    """Let the program have the session of somebody whose sign-in is whole; False where it asks no more, or wants to link."""
    return _finish(context, guid, account.uid, _token_facts(context, methods, provider), links=False)


def finish_link(context: Context, guid: str, claimed: ProviderIdentity) -> bool:
    """Let the program have an identity to link; False where it asks no more, or wants a session."""
    return _finish(context, guid, NO_ACCOUNT, {"claimed": asdict(claimed)}, links=True)


def find_finished(context: Context, guid: str) -> ContinuationToken:
    """Return what the browser finished. Raises NoCallbackLoginOff; WrongClientGuid: nobody began with it, it is over or used, or
    the browser is not back yet."""
    require_enabled(context)
    held = continuation_tokens.find(context, ContinuationPurpose.CLIENT_GUID, guid)
    if held is None or held.is_expired(context.now) or not held.facts["is_finished"] or held.state == USED:
        raise e.WrongClientGuid
    return held


def identity_for(held: ContinuationToken) -> ProviderIdentity | None:
    """Return the identity that a finished GUID stands for; None where somebody signed in."""
    return ProviderIdentity(**held.facts["claimed"]) if held.facts["links"] else None


def redeem_sign_in(context: Context, held: ContinuationToken) -> tuple[Account, tuple[str, ...], str]:
    """Use a finished GUID up, and return who signed in, by which methods and provider. Raises WrongClientGuid."""
    if held.facts["links"]:
        raise e.WrongClientGuid
    account = accounts.change(context, held.uid, {})  # everybody locks the account first
    if account is None or not _can_sign_in(account):
        raise e.WrongClientGuid
    spend(context, held)
    return account, tuple(held.facts["amr"]), str(held.facts["provider"])


def spend(context: Context, held: ContinuationToken) -> None:
    """Use a finished GUID up. Of many at once one wins; raises WrongClientGuid."""
    if not continuation_tokens.change_state(context, held, USED, claimed=None):
        raise e.WrongClientGuid


def require_enabled(context: Context) -> None:
    """Raise 1160 where the tenant has no sign-ins without a callback."""
    if not context.tenant.settings.no_callback_login:
        raise e.NoCallbackLoginOff


def _finish(context: Context, guid: str, uid: str, facts: dict[str, Any], *, links: bool) -> bool:
    """Put what was finished in the place of what waits. Of many at once one wins."""
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
    """Return whether an account may sign in today. Another password ends its tickets with its sessions."""
    if account is None or not account.is_active or account.is_deleted:
        return False
    return not account.login_disabled and not account.is_locked_now
