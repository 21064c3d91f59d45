"""SQLite's plans of the statements that requests run: none reads all rows of a tenant."""

from __future__ import annotations

import re
import sys

from sqlalchemy import create_engine

from app.identity.assembly.server import load_handlers
from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.tables import all_tables

_READ = re.compile(r"(?P<how>SCAN|SEARCH) (?P<table>\w+)(?:.* \((?P<terms>.*)\))?")


def compiled_statements() -> dict[str, Compiled]:
    """Return the statements that are compiled once, by module and name."""
    modules = {name: module for name, module in sys.modules.items() if name.startswith("app.identity.")}
    found = {f"{name}.{key}": value for name, module in modules.items() for key, value in vars(module).items()}
    return {name: value for name, value in found.items() if isinstance(value, Compiled)}


def reads_all(step: str) -> bool:
    """Return whether a step of a plan reads a table without a term beside the tenant; `tenants` has one row of each."""
    read = _READ.match(step)
    if read is None or read["table"] not in all_tables() or read["table"] == "tenants":
        return False
    return read["how"] == "SCAN" or read["terms"] == "tenant_id=?"


def test_no_statement_reads_all_rows_of_a_tenant() -> None:
    load_handlers()
    engine = create_engine("sqlite:///:memory:")
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        for table in all_tables().values():
            table.create(connection)
        slow = {}
        for name, statement in compiled_statements().items():
            form = statement.driver_statement(engine.dialect)
            plan = driver.execute(f"EXPLAIN QUERY PLAN {form.sql}", [None] * form.sql.count("?")).fetchall()
            slow[name] = [step for *_, step in plan if reads_all(step)]
    assert len(slow) > 30
    assert {name: steps for name, steps in slow.items() if steps} == {}
