"""The effect of a migration on concurrent users, read from the statements that it sends to PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
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
COMMIT = "COMMIT"
_TABLE = re.compile(r"(?:CREATE TABLE(?: IF NOT EXISTS)?|ALTER TABLE(?: ONLY)?|\bON) \"?(\w+)", re.IGNORECASE)


@contextmanager
def recorded_statements() -> Iterator[list[str]]:
    """Give the list that every statement goes into which changes something, and COMMIT where a transaction ends."""
    statements: list[str] = []

    def record(_: Any, __: Any, statement: str, *___: Any) -> None:
        if "alembic_version" not in statement and not statement.lstrip().startswith(("SELECT", "SET", "INSERT")):
            statements.append(" ".join(statement.split()))

    def end(_: Any) -> None:
        statements.append(COMMIT)

    event.listen(Engine, "before_cursor_execute", record)
    event.listen(Engine, "commit", end)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", record)
        event.remove(Engine, "commit", end)


def breaks_older_code(statements: Sequence[str], passing: Collection[str] = ()) -> list[str]:
    """Return what of these statements older code would stumble over, and why.

    A name may be freed if the same transaction makes it again: a table in the likeness of its former owner, an index or
    a key of that table. No transaction sees the database without it. What a function would do when called is not done by its making.

    Args:
        passing: constraints that refuse nothing of what older code writes, as other tests show, and that the migration that adds
            them takes away again.
    """
    found, made = [], set[str]()
    for at, statement in enumerate(statements):
        table = named(statement)
        if statement.startswith("CREATE TABLE"):
            made.add(table)
        if table in made or statement.startswith(("DROP POLICY", "CREATE FUNCTION")):
            continue
        if is_made_again(statement, statements[at + 1 :]) or any(is_passing(item, at, statements) for item in passing):
            continue
        found += [f"{statement}: {why}" for pattern, why in TAKES_AWAY if re.search(pattern, statement, re.IGNORECASE)]
        if re.search(ADDS_A_RULE, statement, re.IGNORECASE):
            found.append(f"{statement}: older code may write what the rule refuses")
        if re.search(r"\bADD COLUMN\b.*\bNOT NULL\b", statement) and "DEFAULT" not in statement:
            found.append(f"{statement}: older code writes no value")
    return found


def is_made_again(statement: str, later: Sequence[str]) -> bool:
    """Return whether a statement renames an object that is made again before the transaction ends."""
    renamed = re.fullmatch(r"ALTER (TABLE|INDEX) (\w+) RENAME TO (\w+)", statement)
    if renamed is None:
        return False
    kind, name, now = renamed.groups()
    left = list(later[: later.index(COMMIT)] if COMMIT in later else later)
    table = rf"CREATE TABLE {name} \(LIKE {now} INCLUDING DEFAULTS\b"
    index = rf"CREATE TABLE \w+ \(LIKE .*\bCONSTRAINT {name} |CREATE INDEX {name} ON "
    return any(re.match(table if kind == "TABLE" else index, item) for item in left)


def is_passing(constraint: str, at: int, statements: Sequence[str]) -> bool:
    """Return whether this statement adds a constraint that a later one takes away, or takes an added constraint away."""
    adds, drops = f" ADD CONSTRAINT {constraint} CHECK ", f" DROP CONSTRAINT {constraint}"
    if adds in statements[at]:
        return statements[at].endswith(" NOT VALID") and any(statement.endswith(drops) for statement in statements[at:])
    unless_there = drops.replace("CONSTRAINT", "CONSTRAINT IF EXISTS")
    return statements[at].endswith((drops, unless_there)) and any(adds in statement for statement in statements)


def keeps_writers_out(statements: Sequence[str]) -> list[str]:
    """Return the indexes whose creation blocks writes to the table."""
    made = {named(statement) for statement in statements if statement.startswith("CREATE TABLE")}
    indexes = [statement for statement in statements if re.match(r"CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)", statement)]
    return [index for index in indexes if named(index) not in made]


def named(statement: str) -> str:
    """Return the table that a statement is about."""
    found = _TABLE.search(statement)
    return found[1] if found else ""
