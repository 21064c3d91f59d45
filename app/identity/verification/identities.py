"""Identities of other providers are linked and taken away; whoever has the account is told, as of all that opens it (decisions/0061)."""

from __future__ import annotations

from app.contract.letters import MailKind
from app.identity.accounts import linked
from app.identity.accounts.account import Account
from app.identity.accounts.linked import Identity
from app.identity.call import Call
from app.identity.connections import service as connections
from app.identity.providers.social import Claimed
from app.identity.verification import notices


def link(call: Call, account: Account, claimed: Claimed, *, is_silent: bool = False) -> Account:
    """Give an account an identity, as `linked.link` does. An account that is made by it is told nothing of it: it is new, whole."""
    before = {one.key for one in linked.of(account)}
    after = linked.link(call, account, claimed, is_silent=is_silent)
    key = (claimed.provider, claimed.subject)
    is_first = not before and account.private.get(linked.REGISTERED_BY) == claimed.provider
    if key not in before and not is_first:
        _tell(call, MailKind.IDENTITY_LINKED, after, claimed.provider)
    return after


def unlink(call: Call, account: Account, one: Identity, *, is_silent: bool = False) -> Account:
    """Take an identity away, as `linked.unlink` does."""
    after = linked.unlink(call, account, one.provider, one.subject, is_silent=is_silent)
    _tell(call, MailKind.IDENTITY_UNLINKED, after, one.provider)
    return after


def _tell(call: Call, kind: MailKind, account: Account, provider: str) -> None:
    notices.tell_with_alarm(call, kind, account.email, account, provider=connections.title_of(call, provider))
