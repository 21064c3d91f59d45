"""Reads the rows of a tenant in the order of the primary key, a page at a time: a table of any size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, Table, select, tuple_

from app.identity.platform.store.unit_of_work import UnitOfWork

_PAGE: Final = 500


def rows_of_tenant(work: UnitOfWork, table: Table, *where: ColumnElement[bool]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows by column name; rows that are written meanwhile may be left out."""
    key = tuple(table.primary_key)
    page = select(table).where(table.c.tenant_id == work.tenant_id, *where).order_by(*key).limit(_PAGE)
    rows = work.all(page)
    while rows:
        yield from (row._asdict() for row in rows)
        last = rows[-1]._asdict()
        rows = work.all(page.where(tuple_(*key) > tuple_(*(last[column.name] for column in key))))
