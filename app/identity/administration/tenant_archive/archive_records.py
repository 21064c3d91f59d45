"""The rows of an archive as lines of JSON: readable by every version of this schema, equal on SQLite and PostgreSQL."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Column, LargeBinary, Table

from app.identity.administration.reencryption import ENCRYPTED_COLUMNS
from app.identity.platform.store.encrypted_columns import Renew
from app.identity.platform.store.tables import Instant

_SIZE: Final = 2**256


@dataclass
class ArchivedContents:
    """What was counted of an archive: rows by table, and a digest of each table that does not depend on the order of its rows."""

    rows: Counter[str] = field(default_factory=Counter)
    digests: Counter[str] = field(default_factory=Counter)

    def add(self, table: str, record: Mapping[str, Any]) -> None:
        self.rows[table] += 1
        self.digests[table] = (self.digests[table] + int.from_bytes(hashlib.sha256(line(record)).digest())) % _SIZE

    @property
    def digest(self) -> str:
        """The digest of everything, as hex."""
        counted = {name: [number, self.digests[name]] for name, number in sorted(self.rows.items())}
        return hashlib.sha256(line(counted)).hexdigest()

    def to_json(self) -> dict[str, list[Any]]:
        return {name: [number, f"{self.digests[name]:064x}"] for name, number in sorted(self.rows.items())}


def line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def to_record(table: Table, row: Mapping[str, Any], renew: Renew) -> dict[str, Any]:
    """Return a row for the archive, in which `renew` has replaced each encrypted value."""
    renewed = _renewed(table, row, renew)
    return {column.name: _to_json(column, renewed[column.name]) for column in table.c}


def to_row(table: Table, record: Mapping[str, Any], renew: Renew) -> dict[str, Any]:
    """Return the row of a record, in which `renew` has replaced each value that is encrypted in the database.

    Raises ValueError for a record that is not of this table.
    """
    if set(record) != {column.name for column in table.c}:
        raise ValueError(f"a row of {table.name} has other columns")
    return _renewed(table, {column.name: _from_json(column, record[column.name]) for column in table.c}, renew)


def _renewed(table: Table, row: Mapping[str, Any], renew: Renew) -> dict[str, Any]:
    renewed = dict(row)
    for encrypted in ENCRYPTED_COLUMNS:
        if encrypted.table is table:
            renewed |= encrypted.renewed(renewed, renew)
    return renewed


def _to_json(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, LargeBinary):
        return base64.b64encode(value).decode()
    return value.isoformat() if isinstance(column.type, Instant) else value


def _from_json(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, LargeBinary):
        return base64.b64decode(value, validate=True)
    return datetime.fromisoformat(value) if isinstance(column.type, Instant) else value
