"""Mails that tell an owner what changed: a thief would profit from silence."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.letters import MailKind
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.letters import service as letters


def tell(call: Call, kind: MailKind, to: str | None, account: Account, **facts: str) -> None:
    """Mail a notice. A limit that is reached is kept silently: the change stands, and the ledger has it."""
    if not to:
        return
    try:
        letters.mail(call, kind, to, account=account, facts=facts, language=language(call))
    except e.MailLimitReached:
        call.ledger.record("notice.not_sent", uid=account.uid, kind=kind.value)


def language(call: Call) -> str | None:
    """Return what the page speaks that the change was made on."""
    return call.visit.language if call.visit else None
