"""What 10,000 tenants and 1,000,000 accounts cost a request, and a start. Only with --scale: it fills a gigabyte."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tools.bench.measurement import MeasuredLine, Operation, measure
from tools.bench.scene import TENANT, Scene
from tools.bench.visitor import BenchVisitor

TENANTS, ACCOUNTS = 10_000, 1_000_000
BAR = 1.1
NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)"


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """A sign-in and a start before, the same after."""
    if "scale" not in scene.options:
        return
    before_ms = measure(scene.product, scene.bare, _sign_in(scene)).cpu_ms
    before_seconds = scene.restart()
    scene.product.stop()
    fill(scene.folder / "data" / "gatehouse.db")
    after_seconds = scene.restart()
    after_ms = measure(scene.product, scene.bare, _sign_in(scene)).cpu_ms
    size = f"{TENANTS:,} tenants, {ACCOUNTS:,} accounts"
    for name, before, after, unit in (
        ("sign-in", before_ms, after_ms, "ms"),
        ("start", before_seconds, after_seconds, "s"),
    ):
        yield MeasuredLine(
            operation=f"{name} at {size}",
            counts=f"{before:.2f} {unit} before, {after:.2f} {unit} after",
            measured=f"{after / before:.2f} ×",
            bar=f"{BAR:g} ×",
            aim=f"{BAR:g} ×",
            is_over=after > before * BAR,
            is_reached=after <= before * BAR,
        )


def _sign_in(scene: Scene) -> Operation:
    visitor = scene.visitor()

    def sign_in(number: int) -> BenchVisitor:
        visitor.cookies.clear()
        scene.sign_in(visitor, number)
        return visitor

    return sign_in


def fill(database: Path) -> None:
    """Copy the tenant and one of its accounts, in SQL: nothing but the keys differs."""
    with closing(sqlite3.connect(database)) as connection, connection:
        (tenant_id,) = connection.execute("SELECT tenant_id FROM tenants WHERE name = ?", [TENANT]).fetchone()
        (uid,) = connection.execute("SELECT uid FROM accounts WHERE tenant_id = ?", [tenant_id]).fetchone()
        mine = f"tenant_id = '{tenant_id}'"
        new = {"tenant_id": "'fill-' || n", "name": "'fill' || n", "api_key": "'fill-key-' || n"}
        copy(connection, "tenants", mine, new, TENANTS)
        copy(connection, "applications", mine, {"tenant_id": new["tenant_id"]}, TENANTS)
        mine += f" AND uid = '{uid}'"
        new = {"uid": "'fill-' || n", "profile_id": "'fill-p-' || n", "email": "'fill' || n || '@example.com'"}
        copy(connection, "accounts", mine, new, ACCOUNTS)
        new = {"uid": new["uid"], "value": new["email"]}
        copy(connection, "identifiers", f"{mine} AND kind = 'email'", new, ACCOUNTS)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("ANALYZE")


def copy(connection: sqlite3.Connection, table: str, source: str, new: dict[str, str], times: int) -> None:
    """Insert so many copies of the rows that `source` selects; `new` has the columns that differ, as SQL of the number `n`."""
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(new.get(column, column) for column in columns)
    copied = f"INSERT INTO {table} SELECT {values} FROM {table}, numbers WHERE {source}"  # noqa: S608 -- no input from outside
    connection.execute(f"{NUMBERS} {copied}", [times])
