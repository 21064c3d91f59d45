"""Inserts that do nothing if the row exists, in the SQL of each database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.dialects import sqlite

if TYPE_CHECKING:
    from sqlalchemy import Table
    from sqlalchemy.dialects import postgresql


def insert(table: Table, *, is_sqlite: bool) -> sqlite.Insert | postgresql.Insert:
    """Return an insert with `on_conflict_do_nothing` and `on_conflict_do_update`."""
    if is_sqlite:
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)
