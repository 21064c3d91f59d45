"""Reads past sign-ins from the audit log in pages, the newest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from app.identity.authentication.sign_in.workflows.facts import login_facts
from app.identity.credentials import credential_store
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform import audit
from app.identity.platform.audit import AuditEntry, TenantEntry
from app.identity.platform.context import Context

PAGE_SIZE: Final = 1_000
_EVENT: Final = "event.Login"


@dataclass(frozen=True)
class PastSignIn:
    """A sign-in, and its account as it is now.

    Attributes:
        account: None if it was deleted, or if nothing of it is asked for.
        kinds: of the second factors that it has enrolled.
    """

    entry: AuditEntry
    uid: str
    account: Account | None = None
    kinds: frozenset[str] = frozenset()

    @property
    def at(self) -> datetime:
        return self.entry.at

    @property
    def facts(self) -> dict[str, Any]:
        return self.entry.facts

    @property
    def has_facts(self) -> bool:
        """Whether the version that wrote the entry kept the facts of sign-ins: what is absent then is false."""
        return login_facts.IS_COMPLETE in self.facts

    @property
    def methods(self) -> tuple[str, ...] | None:
        """The methods as amr (RFC 8176), or None if they are unknown."""
        return tuple(self.facts.get("methods") or ()) or None


@dataclass(frozen=True)
class NeededParts:
    """What of the accounts a trial reads."""

    accounts: bool = False
    credentials: bool = False


def pages(context: Context, since: datetime, until: datetime, needed: NeededParts) -> Iterator[list[PastSignIn]]:
    """Yield the sign-ins of a time, the newest first. Holds one page at a time, and no connection between two pages."""
    for entries in audit.pages(context.work, _EVENT, since, until, PAGE_SIZE):
        page = _with_accounts(context, entries, needed)
        context.work.release_connection()
        yield page


def _with_accounts(context: Context, entries: list[TenantEntry], needed: NeededParts) -> list[PastSignIn]:
    uids = {entry.uid for entry in entries if entry.uid}
    accounts = {account.uid: account for account in account_store.by_uids(context, uids)} if needed.accounts else {}
    kinds = credential_store.enrolled_kinds(context, uids) if needed.credentials else {}
    return [
        PastSignIn(entry, entry.uid or "", accounts.get(entry.uid or ""), kinds.get(entry.uid or "", frozenset()))
        for entry in entries
    ]
