"""Statements on queues find their rows by indexes, whatever waits in the outbox or was sent within 30 days."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from app.identity.assembly.clean_up.expired_rows import clean
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.outbox import claims, delivery_log, queue_claims, queue_limits, queue_outcomes, queue_pauses
from app.identity.platform.outbox.delivery_log import Selection
from app.identity.platform.outbox.lanes import LANES, WEBHOOK
from app.identity.platform.outbox.queue_claims import Search
from app.identity.platform.outbox.sender import DeliveryError, Receipt
from app.identity.platform.store import removal
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.tenants.posting import VAULT, queued

ALLOWED = {
    "sqlite_autoindex_outbox_1 (tenant_id=? AND message_id=?)",
    "ix_outbox_ages (tenant_id=? AND state=? AND created_at<?)",
    "ix_outbox_finished (tenant_id=? AND finished_at<?)",
    "ix_outbox_lanes (state=?)",  # of the lane of all other kinds
    "ix_outbox_lanes (state=? AND kind=?)",
    "ix_outbox_lanes (state=? AND kind=? AND tenant_id>?)",
    "ix_outbox_log (tenant_id=? AND queue=? AND state=? AND created_at>?)",
    "ix_outbox_log (tenant_id=? AND queue=? AND state=?)",
    "ix_outbox_order (tenant_id=? AND order_key=? AND queue=? AND state=? AND created_at>?)",
    "ix_outbox_order (tenant_id=? AND order_key=? AND queue=? AND state=?)",
    "ix_outbox_order (tenant_id=? AND order_key=?)",
    "ix_outbox_queues (kind=? AND tenant_id=? AND queue=? AND due_at<?)",
    "ix_outbox_queues (kind=? AND tenant_id=? AND queue=? AND due_at>? AND due_at<?)",
    "ix_outbox_queues (kind=? AND tenant_id=? AND queue>?)",
    "ix_outbox_unsent (state=? AND kind=?)",  # up to a bound
    "ix_outbox_unsent (state=? AND kind>?)",
    "ix_outbox_turns (state=? AND kind=? AND tenant_id>?)",
}
"""The parts of indexes that statements search: each has as few messages as the statement needs."""
_OUTBOX = re.compile(r"(?:SEARCH|SCAN) (?:outbox(?:_[0-9]+)?|earlier)\b(?: USING (?:COVERING )?INDEX (.+))?$")


@contextmanager
def traced(database: Database) -> Iterator[list[str]]:
    """Give the list of the statements that run on the database meanwhile, with their values."""
    statements: list[str] = []

    def trace(connection: sqlite3.Connection, _: Any) -> None:
        connection.set_trace_callback(statements.append)

    database.dispose()
    event.listen(database.engine, "connect", trace)
    try:
        yield statements
    finally:
        event.remove(database.engine, "connect", trace)
        database.dispose()


def in_tenant(database: Database, run: Any) -> None:
    work = UnitOfWork(database, "acme")
    run(work)
    work.commit()


def end_queue(database: Database, clock: FixedClock) -> None:
    queued(database, clock, "ended"), queued(database, clock, "ended")
    message = queue_claims.claim(database, clock.now(), WEBHOOK, Search("", {}, (), (("acme", "hook"),)))
    assert message
    assert message.queue == "ended"
    error = DeliveryError("deleted", ends_queue=True)
    queue_outcomes.settle_failed(database, VAULT, message, clock.now(), error, is_paused=False)


def use_queues(database: Database, clock: FixedClock) -> None:
    """Run every statement on queues, and the claims of other lanes."""
    for _ in range(4):
        queued(database, clock, order_key="ada")
    for error in (DeliveryError("timeout"), None):
        message = queue_claims.claim(database, clock.now(), WEBHOOK)
        assert message
        assert queue_claims.claim(database, clock.now(), WEBHOOK) is None
        if error:
            queue_outcomes.settle_failed(database, VAULT, message, clock.now(), error, is_paused=True)
        else:
            queue_outcomes.settle_sent(database, VAULT, message, clock.now(), Receipt(200))
        clock.advance(seconds=15)
    end_queue(database, clock)
    queue_claims.claim(database, clock.now(), WEBHOOK, Search("acme", {"acme": "a"}, ("x",), (("x", "y"),)))
    queue_limits.mark_full(database, 1)
    claims.count_unsent(database)
    for state in (None, "sent"):
        selection = Selection("hook", state)
        in_tenant(database, lambda work, of=selection: delivery_log.list_deliveries(work, of, limit=10))
    in_tenant(database, lambda work: delivery_log.replay_deliveries(work, Selection("hook", "sent"), clock.now()))
    in_tenant(database, lambda work: removal.delete_account_rows(work, "ada"))
    clock.advance(days=40)
    for _ in range(2):
        clean(database, clock.now())
    in_tenant(database, lambda work: queue_pauses.end_pause(work, "webhook", "hook", clock.now(), most=10))
    for lane in LANES:
        if not lane.has_queues:
            claims.claim(database, clock.now(), lane)
            claims.claim(database, clock.now(), lane, after="acme")


@pytest.mark.parametrize("own_database", ["sqlite"], indirect=True)
def test_every_statement_searches_a_small_part_of_an_index(own_database: Database) -> None:
    clock = FixedClock()
    made: Any = {"api_key": "k", "api_secret": b"", "settings": {}, "brand": {}, "now": clock.now()}
    in_tenant(own_database, lambda work: tenant_writes.add(work, "acme", **made))
    with traced(own_database) as statements:
        use_queues(own_database, clock)
    searched: dict[str, str] = {}
    with closing(sqlite3.connect(str(own_database.engine.url.database))) as plain:
        for statement in filter(is_of_outbox, statements):
            for *_, step in plain.execute(f"EXPLAIN QUERY PLAN {statement}"):
                if found := _OUTBOX.match(step):
                    searched[found[1] or step] = statement
    assert {part: statement for part, statement in searched.items() if part not in ALLOWED} == {}
    assert set(searched) == ALLOWED


def is_of_outbox(statement: str) -> bool:
    return "outbox" in statement and statement.startswith(("SELECT", "UPDATE", "DELETE", "WITH"))
