"""The effect of a migration on concurrent users, read from the statements that it sends to PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

TAKES_AWAY = (
    (r"\bDROP TABLE\b", "removes a table"),
    (r"\bDROP COLUMN\b", "removes a column"),
    (r"\bDROP CONSTRAINT\b", "removes a constraint, which an upsert may name"),
    (r"\bDROP INDEX\b(?! CONCURRENTLY IF EXISTS)", "removes an index, which an upsert may name"),
    (r"\bRENAME\b", "renames"),
    (r"\bALTER COLUMN \S+ (SET DATA )?TYPE\b", "changes a type"),
    (r"\bSET NOT NULL\b", "demands a value that older code does not write"),
    (r"\b(DELETE FROM|TRUNCATE)\b", "removes rows"),
)
ADDS_A_RULE = r"\bADD (CONSTRAINT|CHECK|UNIQUE|FOREIGN KEY|PRIMARY KEY|EXCLUDE)\b|\bCREATE UNIQUE INDEX\b"
_TABLE = re.compile(r"(?:CREATE TABLE(?: IF NOT EXISTS)?|ALTER TABLE(?: ONLY)?|\bON) \"?(\w+)", re.IGNORECASE)


@contextmanager
def heard() -> Iterator[list[str]]:
    """Give the list that every statement goes into which changes something."""
    statements: list[str] = []

    def hear(_: Any, __: Any, statement: str, *___: Any) -> None:
        if "alembic_version" not in statement and not statement.lstrip().startswith(("SELECT", "SET", "INSERT")):
            statements.append(" ".join(statement.split()))

    event.listen(Engine, "before_cursor_execute", hear)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", hear)


def breaks_older_code(statements: Sequence[str]) -> list[str]:
    """Return what of these statements older code would stumble over, and why."""
    found, made = [], set[str]()
    for statement in statements:
        table = named(statement)
        if statement.startswith("CREATE TABLE"):
            made.add(table)
        if table in made or statement.startswith("DROP POLICY"):
            continue
        found += [f"{statement}: {why}" for pattern, why in TAKES_AWAY if re.search(pattern, statement, re.IGNORECASE)]
        if re.search(ADDS_A_RULE, statement, re.IGNORECASE):
            found.append(f"{statement}: older code may write what the rule refuses")
        if re.search(r"\bADD COLUMN\b.*\bNOT NULL\b", statement) and "DEFAULT" not in statement:
            found.append(f"{statement}: older code writes no value")
    return found


def keeps_writers_out(statements: Sequence[str]) -> list[str]:
    """Return the indexes whose creation blocks writes to the table."""
    made = {named(one) for one in statements if one.startswith("CREATE TABLE")}
    indexes = [one for one in statements if re.match(r"CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)", one)]
    return [one for one in indexes if named(one) not in made]


def named(statement: str) -> str:
    """Return the table that a statement is about."""
    found = _TABLE.search(statement)
    return found[1] if found else ""
