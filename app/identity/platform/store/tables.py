"""The shared SQLAlchemy metadata and the column types of all tables."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic_core import from_json, to_json
from sqlalchemy import JSON, Column, DateTime, MetaData, String, Table
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)

_declared: set[str] = set()


def declare_complete() -> None:
    """Mark the metadata as complete; `assembly/table_modules.py` calls this after importing every table module."""
    _declared.update(metadata.tables)


def all_tables() -> Mapping[str, Table]:
    """Return all tables by name. Raises RuntimeError unless `assembly/table_modules.py` was imported: deletions would miss tables."""
    if _declared != set(metadata.tables):
        raise RuntimeError("import app.identity.assembly.table_modules first: not every table is known")
    return metadata.tables


class _Jsonb(TypeDecorator[Any]):
    """PostgreSQL's JSONB, whose dialect only PostgreSQL loads."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        from sqlalchemy.dialects.postgresql import JSONB

        return dialect.type_descriptor(JSONB())


class _JsonText(TypeDecorator[Any]):
    """JSON as SQLite's text, without SQLAlchemy's chain of conversions: the row of an account with its session has six."""

    impl = JSON
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], str]:  # noqa: ARG002 - SQLAlchemy's signature
        return _to_json

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002 - SQLAlchemy's signature
        return _from_json


def _to_json(value: Any) -> str:
    return to_json(value).decode()


def _from_json(stored: Any) -> Any:
    return from_json(stored) if isinstance(stored, str) else stored  # a member that is a number is none


Json = JSON().with_variant(_Jsonb(), "postgresql").with_variant(_JsonText(), "sqlite")
Id = String(64)


class Instant(TypeDecorator[datetime]):
    """A UTC datetime; SQLite stores no time zone, so reading adds it.

    The processors replace SQLAlchemy's chain of conversions for speed: every row has half a dozen instants.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], Any] | None:
        return _to_text if dialect.name == "sqlite" else None

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:  # noqa: ARG002 - SQLAlchemy's signature
        return _from_text if dialect.name == "sqlite" else _in_utc


def _to_text(value: datetime | None) -> str | None:
    if value is None:
        return None
    in_utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    return in_utc.isoformat(" ", "microseconds")[:-6]


def _from_text(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(f"{text}+00:00")  # five times as fast as `replace`


def _in_utc(value: datetime | None) -> datetime | None:
    return None if value is None else value.astimezone(UTC)


def tenant_table(name: str, *columns: Any) -> Table:
    """Return a table whose primary key starts with the tenant id."""
    return Table(name, metadata, Column("tenant_id", Id, primary_key=True), *columns)
