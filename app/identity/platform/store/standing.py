"""The state of a database: its schema, and the oldest code that may serve it, which the newest migration has left beside it.

Code that is older than the schema knows nothing of the newer migrations, so they say it in the database (decisions/0158).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import inspect, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError


@dataclass(frozen=True)
class Standing:
    """A database's schema."""

    revision: str | None
    """None where nothing was ever migrated."""
    oldest_code: str | None = None
    """The newest revision that code must know at least to serve this schema; None where no migration said so."""

    def refusal(self, head: str, needs: str) -> str | None:
        """Return why code cannot serve this schema, or None where it can.

        Args:
            head: the newest revision that the code knows.
            needs: the oldest revision that it can serve.
        """
        if self.revision is None or self.revision < needs:
            return f"The database is at schema {self.revision or 'none'}, this version needs {needs}: run 'gatehouse migrate'."
        if self.revision > head and (self.oldest_code is None or self.oldest_code > head):
            return (
                f"The database is at schema {self.revision}, which serves code of schema {self.oldest_code or self.revision} "
                f"and newer; this version is of {head}: start a newer one."
            )
        return None


def standing_of(connection: Connection) -> Standing:
    """Return where a database stands."""
    try:
        row: Any = (
            connection.execute(text("SELECT * FROM alembic_version")).mappings().one_or_none()
        )  # a column came later
    except DBAPIError:
        return Standing(None)
    return Standing(str(row["version_num"]), row.get("oldest_code")) if row else Standing(None)


def note_oldest_code(connection: Connection, oldest_code: str) -> None:
    """Keep the oldest code that may serve the schema beside its revision, for code that does not know this revision."""
    if "oldest_code" not in {column["name"] for column in inspect(connection).get_columns("alembic_version")}:
        connection.execute(text("ALTER TABLE alembic_version ADD COLUMN oldest_code VARCHAR(32)"))
    connection.execute(
        text("UPDATE alembic_version SET oldest_code = :it WHERE oldest_code IS NULL OR oldest_code <> :it"),
        {"it": oldest_code},
    )
