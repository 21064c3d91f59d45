"""The encrypted values of a table, stated once by the module that owns the table.

What rotates the secret key and what moves a tenant to another installation renew these values alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Table, or_, select, update

from app.identity.platform.encryption import Encryption
from app.identity.platform.store import row_pages
from app.identity.platform.store.unit_of_work import UnitOfWork

Renew = Callable[[bytes, str], bytes]
"""Takes an encrypted value and its associated data, and returns the value as it shall be stored."""


@dataclass(frozen=True)
class EncryptedColumns:
    """The columns of a table that hold encrypted values, or JSON with encrypted values in it."""

    table: Table
    columns: tuple[str, ...]
    renewed: Callable[[Mapping[str, Any], Renew], dict[str, Any]]
    """Takes a row by column name, and returns the columns with their encrypted values renewed."""
    filled: ColumnElement[bool]
    """The condition for rows with an encrypted value."""


def encrypted_columns(
    table: Table, *columns: str, associated_data: Callable[[Mapping[str, Any]], str]
) -> EncryptedColumns:
    """Return the statement for columns that each hold one encrypted value or NULL."""

    def renewed(row: Mapping[str, Any], renew: Renew) -> dict[str, Any]:
        return {name: renew(row[name], associated_data(row)) for name in columns if row[name] is not None}

    return EncryptedColumns(table, columns, renewed, or_(*(table.c[name].is_not(None) for name in columns)))


def reencrypt(work: UnitOfWork, encryption: Encryption, encrypted: EncryptedColumns) -> int:
    """Encrypt the tenant's values again that are encrypted under an older secret.

    Returns the number of values. Raises DecryptionError if no known secret decrypts one.
    """
    count = 0

    def renew(value: bytes, associated_data: str) -> bytes:
        nonlocal count
        if encryption.is_current(value):
            return value
        count += 1
        return encryption.encrypt(encryption.decrypt(value, associated_data), associated_data)

    for row in row_pages.rows_of_tenant(work, encrypted.table, encrypted.filled):
        if _changes(row, encrypted, lambda value, _: value if encryption.is_current(value) else b""):
            _renew_locked(work, encrypted, row, renew)
    return count


def _renew_locked(work: UnitOfWork, encrypted: EncryptedColumns, row: Mapping[str, Any], renew: Renew) -> None:
    """Renew the values of a row as they are once it is locked: another request may have changed them meanwhile."""
    work.begin()
    where = _is_row(encrypted.table, row)
    current = work.one(select(encrypted.table).where(*where).with_for_update())
    if current is not None and (values := _changes(current._asdict(), encrypted, renew)):
        work.run(update(encrypted.table).where(*where).values(values))


def _changes(row: Mapping[str, Any], encrypted: EncryptedColumns, renew: Renew) -> dict[str, Any]:
    return {name: value for name, value in encrypted.renewed(row, renew).items() if value != row[name]}


def _is_row(table: Table, row: Mapping[str, Any]) -> tuple[ColumnElement[bool], ...]:
    return tuple(column == row[column.name] for column in table.primary_key)
