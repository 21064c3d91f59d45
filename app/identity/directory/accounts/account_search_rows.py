"""Writes what lists of accounts search and sort by, in the transaction that changes the account."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, Protocol

from sqlalchemy import Select, bindparam, delete, null, or_, select

from app.identity.directory.accounts.tables import account_search, accounts
from app.identity.platform.store import upserts
from app.identity.platform.store.compiled_statements import TENANT, Compiled
from app.identity.platform.store.unit_of_work import UnitOfWork

A, S = accounts.c, account_search.c
_MOST, _MOST_OF_EMAIL = 200, 320
"""The lengths of the keys of names and addresses, in characters."""
_COLUMNS: Final = tuple(column for column in account_search.columns if column.name != "tenant_id")
_READ: Final = (A.uid, A.email, A.email_verified, A.phone_verified, A.created_at, A.profile_modified_at, A.profile)


class Searchable(Protocol):
    """What a row is made of: an account, or its columns."""

    @property
    def uid(self) -> str: ...
    @property
    def email(self) -> str | None: ...
    @property
    def email_verified(self) -> bool: ...
    @property
    def phone_verified(self) -> bool: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def profile_modified_at(self) -> datetime | None: ...
    @property
    def profile(self) -> dict[str, Any]: ...


def key_of(text: str) -> str:
    """Return a text as it is searched and sorted: without differences of letter case, width and blanks (Unicode NFKC)."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def write(work: UnitOfWork, *changed: Searchable, is_sqlite: bool) -> None:
    """Write the rows of accounts; the transaction holds the locks of the accounts."""
    rows = [{"tenant": work.tenant_id, **_row(account)} for account in changed]
    if rows:
        work.run(_written(is_sqlite=is_sqlite), rows if len(rows) > 1 else rows[0])


def uids(tenant_id: str) -> Select[Any]:
    """Return the query for the id of every account."""
    return select(S.uid).where(S.tenant_id == tenant_id)


def remove(work: UnitOfWork, uid: str) -> None:
    """Delete the row of an account."""
    work.run(delete(account_search).where(S.tenant_id == work.tenant_id, S.uid == uid))


def write_outdated(work: UnitOfWork, after: str, most: int, *, is_sqlite: bool) -> tuple[int, str | None]:
    """Write the rows that are missing, or older than their accounts, of the next accounts by id.

    Returns:
        How many were written, and the id of the last account read; None if no more follow.
    """
    uids = [row.uid for row in work.all(select(A.uid).where(*_following(work, after)).order_by(A.uid).limit(most))]
    if not uids:
        return 0, None
    outdated = [row.uid for row in work.all(_outdated(work, after, uids[-1]))]
    if outdated:
        work.begin()
        write(work, *work.all(_locked(work, outdated)), is_sqlite=is_sqlite)
    return len(outdated), uids[-1] if len(uids) == most else None


def _row(account: Searchable) -> Mapping[str, Any]:
    first, last = (account.profile.get(name) for name in ("FirstName", "LastName"))
    names = [name if isinstance(name, str) else "" for name in (first, last)]
    return {
        "uid": account.uid,
        "created_at": account.created_at,
        "email_key": key_of(account.email or "")[:_MOST_OF_EMAIL],
        "name_key": key_of(" ".join(names))[:_MOST],
        "last_name_key": key_of(names[1])[:_MOST],
        "is_verified": account.email_verified or account.phone_verified,
        "changed_at": account.profile_modified_at,
    }


@cache
def _written(*, is_sqlite: bool) -> Compiled:
    values = {column.name: bindparam(column.name, type_=column.type) for column in _COLUMNS}
    inserted = upserts.insert(account_search, is_sqlite=is_sqlite).values({"tenant_id": TENANT, **values})
    changed = {column.name: inserted.excluded[column.name] for column in _COLUMNS if column.name != "uid"}
    return Compiled(inserted.on_conflict_do_update(index_elements=["tenant_id", "uid"], set_=changed))


def _following(work: UnitOfWork, after: str) -> Sequence[Any]:
    return A.tenant_id == work.tenant_id, A.uid > after


def _outdated(work: UnitOfWork, after: str, last: str) -> Any:
    """Return the query for the accounts in a range of ids whose row is missing or older than they are."""
    is_same = or_(S.changed_at == A.profile_modified_at, S.changed_at.is_(null()) & A.profile_modified_at.is_(null()))
    current = select(S.uid).where(S.tenant_id == work.tenant_id, S.uid == A.uid, is_same).exists()
    return select(A.uid).where(*_following(work, after), A.uid <= last, ~current)


def _locked(work: UnitOfWork, uids: Sequence[str]) -> Any:
    """Return the query that locks accounts, in order, as concurrent changes do."""
    where = (A.tenant_id == work.tenant_id, A.uid.in_(uids))
    return select(*_READ).where(*where).order_by(A.uid).with_for_update()
