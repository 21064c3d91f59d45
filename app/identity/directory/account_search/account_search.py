"""Finds a page of accounts at a bounded cost.

A condition that few accounts meet finds them by its index, and they are sorted. Without such a condition, the accounts are walked
in the order of the list and their conditions checked, so many at a time: a page ends there even if it is not full.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, Subquery, any_, func, select, tuple_
from sqlalchemy.engine import Row
from sqlalchemy.sql.selectable import CompoundSelect

from app.contract.accounts.account_list_operations import MAX_COUNTED
from app.identity.directory.account_search.account_conditions import A, Condition
from app.identity.platform.store.unit_of_work import UnitOfWork

FEW: Final = 4_000
"""Up to so many accounts of one condition are read and sorted for a page."""
WALKED: Final = (500, 2_500)
"""How many accounts a page walks at first, and how many if those did not fill it."""


class Position(NamedTuple):
    """A place in a sorted list: after the account with this key and id."""

    key: Any
    uid: str


class AccountPage(NamedTuple):
    """The ids of a page, in order; `following` is None on the last page, `total` on all but the first."""

    uids: list[str]
    following: Position | None
    total: int | None = None
    is_lower_bound: bool = False


class Narrow(NamedTuple):
    """A condition that few accounts meet, and the selection of their ids."""

    condition: Condition
    uids: Select[Any] | CompoundSelect[Any]


@dataclass(frozen=True)
class AccountSearch:
    """A sorted list of the tenant's accounts that meet all conditions.

    Args:
        column: the column of `accounts` that sorts, with the id.
    """

    work: UnitOfWork
    is_sqlite: bool
    column: str
    is_descending: bool
    conditions: Sequence[Condition]

    def page(self, after: Position | None, limit: int) -> AccountPage:
        """Return the page of at most `limit` accounts after a position; None: the first."""
        narrow = self._narrowest()
        found = self._of_few(narrow, after, limit) if narrow is not None else self._walk(after, limit)
        if after is None and narrow is None:
            count, is_exact = self._count_walked()
            return found._replace(total=min(count, MAX_COUNTED), is_lower_bound=count > MAX_COUNTED or not is_exact)
        return found

    def _narrowest(self) -> Narrow | None:
        """Return the condition that the fewest accounts meet, if these are few and it is not the order of the list alone."""
        indexed = [Narrow(item, item.uids) for item in self.conditions if item.uids is not None]
        if not indexed or not self._unsorted():
            return None
        counts = [_count(item.uids.limit(FEW + 1).subquery()) for item in indexed]
        (row,) = self.work.all(select(*(count.label(f"count_{at}") for at, count in enumerate(counts))))
        fewest, at = min((number, at) for at, number in enumerate(row))
        return indexed[at] if fewest <= FEW else None

    def _of_few(self, narrow: Narrow, after: Position | None, limit: int) -> AccountPage:
        """Return a page of the accounts that meet one condition and the others, with their number on the first one."""
        uids = narrow.uids.limit(FEW).subquery("few")
        is_one: ColumnElement[bool] = A.uid.in_(select(uids.c.uid))
        if not self.is_sqlite:  # the planner takes an array for short, and searches its elements in the primary key
            is_one = A.uid == any_(func.array(select(uids.c.uid).scalar_subquery()))
        others = [item for item in self.conditions if item is not narrow.condition]
        # The others are checked afterwards, so that no database searches one of their indexes instead. SQLite would also walk an
        # index of the order that has all columns: none has `modified_at`.
        columns = (A.uid, A[self.column].label("key"), A.modified_at, *_read_by(others))
        read = (
            select(*columns).where(A.tenant_id == self.work.tenant_id, is_one).cte("read").prefix_with("MATERIALIZED")
        )
        matches = select(read.c.uid, read.c.key).where(*(item.is_met(read.c) for item in others)).cte("matches")
        page = self._sorted(select(matches.c.uid, matches.c.key), matches.c, after).limit(limit + 1)
        if after is not None:
            return self._cut(self.work.all(page), limit, None)
        rows = self.work.all(
            page.add_columns(select(func.count()).select_from(matches).scalar_subquery().label("total"))
        )
        count = int(rows[0].total) if rows else 0
        return self._cut(rows, limit, None)._replace(total=min(count, MAX_COUNTED), is_lower_bound=count > MAX_COUNTED)

    def _walk(self, after: Position | None, limit: int) -> AccountPage:
        rest = self._unsorted()
        rows: Sequence[Row[Any]] = ()
        last: Row[Any] | None = None
        for most in WALKED if rest else (limit + 1,):
            walked = self._walked(after, most)
            checked = select(walked.c.uid, walked.c.key).where(*(item.is_met(walked.c) for item in rest))
            rows = self.work.all(self._sorted(checked, walked.c, None).limit(limit + 1))
            last = self._last_walked(after, most) if len(rows) <= limit else None
            if last is None:
                break
        return self._cut(rows, limit, Position(last.key, last.uid) if last is not None else None)

    def _last_walked(self, after: Position | None, most: int) -> Row[Any] | None:
        """Return the account at which a walk of so many ends; None if there are not as many."""
        walk = self._in_order(after, (A.uid, A[self.column].label("key")))
        return self.work.one(walk.offset(most - 1).limit(1))

    def _count_walked(self) -> tuple[int, bool]:
        """Return how many accounts match, as far as they are counted, and whether these are all."""
        rest = self._unsorted()
        most = WALKED[-1] if rest else MAX_COUNTED + 1
        walked = self._walked(None, most)
        matching = select(walked.c.uid).where(*(item.is_met(walked.c) for item in rest)).limit(MAX_COUNTED + 1)
        (row,) = self.work.all(select(_count(matching.subquery()).label("number")))
        return int(row.number), not rest or self._last_walked(None, most) is None

    def _unsorted(self) -> list[Condition]:
        """Return the conditions that are no range of the order."""
        return [item for item in self.conditions if item.sort != self.column]

    def _walked(self, after: Position | None, most: int) -> Subquery:
        columns = (A.uid, A[self.column].label("key"), *_read_by(self._unsorted()))
        return self._in_order(after, columns).limit(most).subquery("walked")

    def _in_order(self, after: Position | None, columns: tuple[Any, ...]) -> Select[Any]:
        ranges = [item.is_met(A) for item in self.conditions if item.sort == self.column]
        statement = select(*columns).where(A.tenant_id == self.work.tenant_id, *ranges)
        return self._sorted(statement, {"key": A[self.column], "uid": A.uid}, after)

    def _sorted(self, statement: Select[Any], columns: Any, after: Position | None) -> Select[Any]:
        key, uid = columns["key"], columns["uid"]
        if after is not None:
            place, passed = tuple_(key, uid), tuple_(*after, types=[key.type, uid.type])
            statement = statement.where(place < passed if self.is_descending else place > passed)
        return statement.order_by(*((key.desc(), uid.desc()) if self.is_descending else (key, uid)))

    def _cut(self, rows: Sequence[Row[Any]], limit: int, following: Position | None) -> AccountPage:
        page = rows[:limit]
        last = Position(page[-1].key, page[-1].uid) if len(rows) > limit else following
        return AccountPage([row.uid for row in page], last)


def _read_by(conditions: Iterable[Condition]) -> list[Any]:
    """Return the columns of `accounts` that the conditions read."""
    return [A[name] for name in dict.fromkeys(name for item in conditions for name in item.reads)]


def _count(rows: Subquery) -> Any:
    return select(func.count()).select_from(rows).scalar_subquery()
