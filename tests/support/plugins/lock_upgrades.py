"""Watches the transactions of every test: a transaction that locked rows shared (FOR SHARE) must not change the same table; and deadlocks.

Two such transactions would each wait for the other to give up its share, and PostgreSQL aborts one of them. SQLite has no such
locks, so its statements are watched as well. pytest loads this as a plugin.
"""

from __future__ import annotations

from typing import Any

import pytest

from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.database import StoreContended
from app.identity.platform.store.unit_of_work import UnitOfWork

_run, _release = UnitOfWork.run, UnitOfWork._release
_shared: dict[int, set[str]] = {}
"""The tables that an open unit of work has locked shared, by the unit's id."""
_deadlocks: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    UnitOfWork.run = run  # type: ignore[method-assign]  # watches, and changes nothing
    UnitOfWork._release = release  # type: ignore[method-assign]  # as above


@pytest.fixture
def deadlocks() -> list[str]:
    """The statements that PostgreSQL aborted in this process because of a deadlock, most of which then ran again."""
    _deadlocks.clear()
    return _deadlocks


def run(self: UnitOfWork, statement: Any, parameters: Any = None) -> Any:
    stated: Any = statement.statement if isinstance(statement, Compiled) else statement
    if getattr(stated, "is_dml", False):
        assert stated.table.name not in _shared.get(id(self), ()), (
            f"{stated.table.name} is locked FOR SHARE and then changed: lock the row for the change at once"
        )
    lock = getattr(stated, "_for_update_arg", None)
    if lock is not None and not lock.key_share:
        locked = {table.name for table in stated.get_final_froms()}
        if lock.read:
            _shared.setdefault(id(self), set()).update(locked)
        shared = locked & _shared.get(id(self), set())
        assert lock.read or not shared, f"{shared} is locked FOR SHARE and then FOR UPDATE: lock the row alone at once"
    try:
        return _run(self, statement, parameters)
    except StoreContended:
        _deadlocks.append(str(stated))
        raise


def release(self: UnitOfWork) -> None:
    _shared.pop(id(self), None)
    _release(self)
