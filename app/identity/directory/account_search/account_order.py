"""The orders of lists of accounts, each by an index over a key and the id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, literal_column

from app.identity.directory.accounts.tables import account_search, accounts

LAST_LOGIN: Final = "last_login"
_KEYS: Final = {"created": "created_at", "email": "email_key", "name": "name_key"}
TIMES: Final = frozenset({"created", LAST_LOGIN})
"""Orders by time: the latest comes first, unless the caller says otherwise."""
_LAST_LOGIN_KEY: Final = {
    True: "accounts.last_login_key",
    False: """(CASE WHEN accounts.last_login_at IS NULL THEN timestamptz '1970-01-01 00:00:00+00' ELSE accounts.last_login_at END)""",
}
"""As migration 0040 writes it, on SQLite and on PostgreSQL: accounts that never signed in come before all others."""


@dataclass(frozen=True)
class Order:
    """The columns of an order, all of one table."""

    name: str
    tenant_id: ColumnElement[str]
    uid: ColumnElement[str]
    key: ColumnElement[Any]

    def between(self, start: Any, end: Any) -> Iterator[ColumnElement[bool]]:
        """Yield the conditions that the key is at least `start` and less than `end`; None: any."""
        if start is not None:
            yield self.key >= start
        if end is not None:
            yield self.key < end


def order_of(name: str, *, is_sqlite: bool) -> Order:
    """Return the order of this name."""
    if name != LAST_LOGIN:
        columns = account_search.c
        return Order(name, columns.tenant_id, columns.uid, columns[_KEYS[name]])
    columns = accounts.c
    key: ColumnElement[Any] = literal_column(_LAST_LOGIN_KEY[is_sqlite], columns.last_login_at.type)
    return Order(name, columns.tenant_id, columns.uid, key)
