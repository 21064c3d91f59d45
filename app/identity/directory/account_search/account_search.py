"""Finds a page of accounts at a bounded cost.

The accounts are walked in the order of the list and their conditions checked, so many at a time: a page ends there even if it is not
full. If few accounts meet a condition, its index finds them, and only they are walked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import CTE, ColumnElement, Select, and_, any_, func, literal, literal_column, select, tuple_, union_all
from sqlalchemy.engine import Row
from sqlalchemy.sql.selectable import CompoundSelect

from app.contract.accounts.account_list_operations import MAX_COUNTED
from app.identity.directory.account_search.account_conditions import FEW, Condition
from app.identity.directory.account_search.account_order import Order
from app.identity.platform.store.unit_of_work import UnitOfWork

SEARCHED: Final = 3_600
"""How many searches of indexes a walk may cost: one for each account, and those of its conditions; few accounts are read first."""


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
    """A condition that few accounts meet, the selection of their ids, and how many they are."""

    condition: Condition
    uids: Select[Any] | CompoundSelect[Any]
    number: int = 0


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
        rest = [item for item in self._unsorted() if narrow is None or item is not narrow.condition]
        return self._walk(narrow, rest, after, limit) if narrow is not None or rest else self._range(after, limit)

    def _narrowest(self) -> Narrow | None:
        """Return the condition that the fewest accounts meet, if these are few and it is not the order of the list alone."""
        indexed = [Narrow(item, item.uids) for item in self.conditions if item.uids is not None]
        if not indexed or not self._unsorted():
            return None
        counts = [_count(item.uids.limit(FEW + 1).subquery()) for item in indexed]
        (row,) = self.work.all(select(*(count.label(f"count_{at}") for at, count in enumerate(counts))))
        fewest, at = min((number, at) for at, number in enumerate(row))
        return indexed[at]._replace(number=fewest) if fewest <= FEW else None

    def _walk(
        self, narrow: Narrow | None, rest: Sequence[Condition], after: Position | None, limit: int
    ) -> AccountPage:
        """Return a page of the next accounts in order that meet the conditions: of those of a condition, or of all.

        The first page walks the most at once, because it counts them; a walk of few, because each step reads all of them.
        """
        rows: list[Row[Any]] = []
        walked_to, total = after, 0
        most = (SEARCHED - (narrow.number if narrow is not None else 0)) // (1 + sum(item.searches for item in rest))
        for number in (most // 3, most - most // 3) if after is not None and narrow is None else (most,):
            walked = _materialized(self._next(narrow, walked_to).limit(number), "walked")
            found = self.work.all(self._matching(walked, rest, number, limit - len(rows)))
            rows += [row for row in found if not row.is_end]
            walked_to = next((Position(row.key, row.uid) for row in found if row.is_end), None)
            total = int(found[0].total) if found else 0
            if len(rows) > limit or walked_to is None:
                break
        page = self._cut(rows, limit, walked_to)
        return page if after is not None else _counted(page, total, is_complete=walked_to is None)

    def _range(self, after: Position | None, limit: int) -> AccountPage:
        """Return a page of a list that has no condition but a range of its order."""
        rows = self.work.all(self._next(None, after).limit(limit + 1))
        found = self._cut(rows, limit, None)
        if after is not None:
            return found
        counted = self._next(None, None).limit(MAX_COUNTED + 1)
        (row,) = self.work.all(select(_count(counted.subquery()).label("total")))
        return _counted(found, int(row.total))

    def _unsorted(self) -> list[Condition]:
        """Return the conditions that are no range of the order."""
        return [item for item in self.conditions if item.sort != self.order.name]

    def _next(self, narrow: Narrow | None, after: Position | None) -> Select[Any]:
        """Return the query for the accounts after a position in the order: those of a condition, or all."""
        if narrow is None:
            return self._sorted(self._keys(self._is_own(), after), self._order_columns(), after)
        read = _materialized(self._keys(self._is_one_of(narrow), None), "read")
        return self._sorted(select(read.c.uid, read.c.key), read.c, after)

    def _is_own(self) -> ColumnElement[bool]:
        return self.order.tenant_id == self.work.tenant_id

    def _is_one_of(self, narrow: Narrow) -> ColumnElement[bool]:
        """Return whether an account meets a condition, by the ids of the few that do."""
        uids = narrow.uids.limit(FEW).subquery("few")
        if self.is_sqlite:  # a join: with a condition on the tenant alone, the planner reads the order of all accounts
            own = select(literal(self.work.tenant_id).label("tenant_id"), uids.c.uid).distinct().subquery("own")
            return and_(self.order.tenant_id == own.c.tenant_id, self.order.uid == own.c.uid)
        # The planner takes an array for short, and searches its elements in the primary key.
        return self._is_own() & (self.order.uid == any_(func.array(select(uids.c.uid).scalar_subquery())))

    def _keys(self, is_read: ColumnElement[bool], after: Position | None) -> Select[Any]:
        """Return the query for the ids and keys of these accounts, if they are in the range of the order.

        A position is in the range already: with a bound before it, SQLite would search from there.
        """
        passed = (after is not None and not self.is_descending, after is not None and self.is_descending)
        bounds = [
            bound
            for item in self.conditions
            if item.sort == self.order.name
            for bound in self.order.between(None if passed[0] else item.start, None if passed[1] else item.end)
        ]
        columns = self._order_columns()
        return select(columns["uid"].label("uid"), columns["key"].label("key")).where(is_read, *bounds)

    def _order_columns(self) -> dict[str, ColumnElement[Any]]:
        return {"key": self.order.key, "uid": self.order.uid}

    def _matching(self, walked: CTE, conditions: Sequence[Condition], number: int, limit: int) -> Select[Any]:
        """Return the query for one account more than `limit` that meet the conditions, and for the last of so many walked ones.

        `is_end` marks the last one; there is none if fewer were walked. `total` is the number of all that meet the conditions.
        """
        found = select(walked.c.uid, walked.c.key).where(*(item.is_met(walked.c.uid) for item in conditions))
        matches = _materialized(found, "matches")
        page = self._sorted(select(matches.c.uid, matches.c.key), matches.c, None).limit(limit + 1).subquery("page")
        in_order = self._sorted(select(walked.c.uid, walked.c.key), walked.c, None)
        parts = ((page, "0"), (in_order.offset(number - 1).limit(1).subquery("last"), "1"))
        both = union_all(
            *(select(part.c.uid, part.c.key, literal_column(mark).label("is_end")) for part, mark in parts)
        ).subquery("both")
        total = select(func.count()).select_from(matches).scalar_subquery().label("total")
        return self._sorted(select(both.c.uid, both.c.key, both.c.is_end, total), both.c, None)

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


def _counted(page: AccountPage, count: int, *, is_complete: bool = True) -> AccountPage:
    """Return the first page with a number of matches."""
    return page._replace(total=min(count, MAX_COUNTED), is_lower_bound=count > MAX_COUNTED or not is_complete)


def _materialized(statement: Select[Any], name: str) -> CTE:
    """Return a part of a statement that is computed once, before what is around it."""
    return statement.cte(name).prefix_with("MATERIALIZED")


def _count(rows: Any) -> Any:
    return select(func.count()).select_from(rows).scalar_subquery()
