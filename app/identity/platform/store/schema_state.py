"""The schema revision of a database, and the oldest code that can serve it.

Older code does not know newer migrations, so each migration stores `oldest_code` in the database (decision 0158).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import inspect, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError


@dataclass(frozen=True)
class SchemaState:
    """The state of a database's schema."""

    revision: str | None
    """None for a database without a schema."""
    oldest_code: str | None = None
    """The revision that code must know at least to serve this schema; None if no migration stored one."""

    def incompatibility(self, head: str, oldest_schema: str) -> str | None:
        """Return why code cannot serve this schema, or None if it can.

        Args:
            head: the newest revision that the code knows.
            oldest_schema: the oldest revision that it can serve.
        """
        if self.revision is None or self.revision < oldest_schema:
            return (
                f"The database is at schema {self.revision or 'none'}, but this version needs {oldest_schema}. "
                "Run 'gatehouse migrate', on PostgreSQL with the owner's role in GATEHOUSE_MIGRATE_URL."
            )
        if self.revision > head and (self.oldest_code is None or self.oldest_code > head):
            return (
                f"The database is at schema {self.revision}, which needs a version with schema {self.oldest_code or self.revision} "
                f"or newer, and this one has {head}. Start a newer version."
            )
        return None


def read_schema_state(connection: Connection) -> SchemaState:
    """Read the state of a database's schema."""
    try:
        # "*", because older databases lack the column `oldest_code`
        row: Any = connection.execute(text("SELECT * FROM alembic_version")).mappings().one_or_none()
    except DBAPIError:
        return SchemaState(None)
    return SchemaState(str(row["version_num"]), row.get("oldest_code")) if row else SchemaState(None)


def store_oldest_code(connection: Connection, oldest_code: str) -> None:
    """Store the oldest code that can serve the schema, for code that does not know this revision."""
    if "oldest_code" not in {column["name"] for column in inspect(connection).get_columns("alembic_version")}:
        connection.execute(text("ALTER TABLE alembic_version ADD COLUMN oldest_code VARCHAR(32)"))
    connection.execute(
        text("UPDATE alembic_version SET oldest_code = :it WHERE oldest_code IS NULL OR oldest_code <> :it"),
        {"it": oldest_code},
    )
