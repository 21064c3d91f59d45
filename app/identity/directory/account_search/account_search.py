"""Finds a page of accounts at a bounded cost.

A condition that few accounts meet finds them by its index, and they are sorted. Without such a condition, the accounts are walked
in the order of the list and their conditions checked, so many at a time: a page ends there even if it is not full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import CTE, ColumnElement, Select, any_, func, select, tuple_
from sqlalchemy.engine import Row
from sqlalchemy.sql.selectable import CompoundSelect

from app.contract.accounts.account_list_operations import MAX_COUNTED
from app.identity.directory.account_search.account_conditions import Condition
from app.identity.directory.account_search.account_order import Order
from app.identity.platform.store.unit_of_work import UnitOfWork

FEW: Final = 2_000
"""Up to so many accounts of one condition are read and sorted for a page."""
WALKED: Final = (500, 1_500)
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
    """A sorted list of the tenant's accounts that meet all conditions."""

    work: UnitOfWork
    is_sqlite: bool
    order: Order
    is_descending: bool
    conditions: Sequence[Condition]

    def page(self, after: Position | None, limit: int) -> AccountPage:
        """Return the page of at most `limit` accounts after a position; None: the first."""
        narrow = self._narrowest()
        return self._of_few(narrow, after, limit) if narrow is not None else self._walk(after, limit)

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
        is_one: ColumnElement[bool] = self.order.uid.in_(select(uids.c.uid))
        if not self.is_sqlite:  # the planner takes an array for short, and searches its elements in the primary key
            is_one = self.order.uid == any_(func.array(select(uids.c.uid).scalar_subquery()))
        read = _materialized(self._keys().where(is_one), "read")
        matches = self._matching(read, [item for item in self.conditions if item is not narrow.condition])
        if after is not None:
            return self._cut(self.work.all(self._page(matches, after, limit)), limit, None)
        rows = self.work.all(self._with_total(self._page(matches, None, limit), matches))
        return _counted(self._cut(rows, limit, None), rows)

    def _walk(self, after: Position | None, limit: int) -> AccountPage:
        """Return a page of the next accounts in order. The first one walks the most at once, because it counts them."""
        rest = self._unsorted()
        if not rest:
            return self._range(after, limit)
        rows: Sequence[Row[Any]] = ()
        last: Row[Any] | None = None
        for most in WALKED if after is not None else WALKED[-1:]:
            walked = _materialized(self._sorted(self._keys(), self._order_columns(), after).limit(most), "walked")
            matches = self._matching(walked, rest)
            page = self._page(matches, None, limit)
            rows = self.work.all(page if after is not None else self._with_total(page, matches))
            last = self._last_walked(after, most) if after is None or len(rows) <= limit else None
            if last is None:
                break
        found = self._cut(rows, limit, Position(last.key, last.uid) if last is not None else None)
        return found if after is not None else _counted(found, rows, is_complete=last is None)

    def _range(self, after: Position | None, limit: int) -> AccountPage:
        """Return a page of a list that has no condition but a range of its order."""
        rows = self.work.all(self._sorted(self._keys(), self._order_columns(), after).limit(limit + 1))
        found = self._cut(rows, limit, None)
        if after is not None:
            return found
        counted = self._sorted(self._keys(), self._order_columns(), None).limit(MAX_COUNTED + 1)
        (row,) = self.work.all(select(_count(counted.subquery()).label("total")))
        return _counted(found, [row])

    def _last_walked(self, after: Position | None, most: int) -> Row[Any] | None:
        """Return the account at which a walk of so many ends; None if there are not as many."""
        return self.work.one(self._sorted(self._keys(), self._order_columns(), after).offset(most - 1).limit(1))

    def _unsorted(self) -> list[Condition]:
        """Return the conditions that are no range of the order."""
        return [item for item in self.conditions if item.sort != self.order.name]

    def _keys(self) -> Select[Any]:
        """Return the query for the ids and keys of the tenant's accounts in the range of the order."""
        ranges = [
            item.range_of(self.order.key)
            for item in self.conditions
            if item.range_of is not None and item.sort == self.order.name
        ]
        columns = self._order_columns()
        return select(columns["uid"].label("uid"), columns["key"].label("key")).where(
            self.order.tenant_id == self.work.tenant_id, *ranges
        )

    def _order_columns(self) -> dict[str, ColumnElement[Any]]:
        return {"key": self.order.key, "uid": self.order.uid}

    def _matching(self, read: CTE, conditions: Sequence[Condition]) -> CTE:
        """Return which of the accounts that were read meet the conditions."""
        matches = select(read.c.uid, read.c.key).where(*(item.is_met(read.c.uid) for item in conditions))
        return _materialized(matches, "matches")

    def _page(self, matches: CTE, after: Position | None, limit: int) -> Select[Any]:
        return self._sorted(select(matches.c.uid, matches.c.key), matches.c, after).limit(limit + 1)

    def _with_total(self, page: Select[Any], matches: CTE) -> Select[Any]:
        return page.add_columns(select(func.count()).select_from(matches).scalar_subquery().label("total"))

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


def _counted(page: AccountPage, rows: Sequence[Row[Any]], *, is_complete: bool = True) -> AccountPage:
    """Return the first page with the number of matches in its rows."""
    count = int(rows[0].total) if rows else 0
    return page._replace(total=min(count, MAX_COUNTED), is_lower_bound=count > MAX_COUNTED or not is_complete)


def _materialized(statement: Select[Any], name: str) -> CTE:
    """Return a part of a statement that is computed once, before what is around it."""
    return statement.cte(name).prefix_with("MATERIALIZED")


def _count(rows: Any) -> Any:
    return select(func.count()).select_from(rows).scalar_subquery()
