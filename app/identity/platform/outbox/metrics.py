"""Exports the outbox as Prometheus gauges; each scrape queries the store, so every process reports the same values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.identity.platform.outbox import claims
from app.identity.platform.outbox.lanes import LANES, lane_of
from app.identity.platform.store.database import Database, StoreUnavailable
from app.kit.clock import Clock, SystemClock


class OutboxMetrics(Collector):
    """`gatehouse_outbox_messages` by state (waiting, dead) and lane; `gatehouse_outbox_oldest_seconds` by lane;
    `gatehouse_outbox_queues` by state (paused, full).
    """

    def __init__(self, database: Database, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()

    def describe(self) -> Iterable[Metric]:
        """Return nothing at registration, when the store may not be reachable yet."""
        return ()

    def collect(self) -> Iterable[Metric]:
        try:
            rows = claims.count_unsent(self._database)
            queues = claims.count_queues(self._database, self._clock.now())
        except StoreUnavailable:
            return
        yield _messages(rows)
        yield self._oldest(rows)
        yield _queues(queues)

    def _oldest(self, rows: Sequence[Any]) -> Metric:
        ages = dict.fromkeys((lane.name for lane in LANES), 0.0)
        now = self._clock.now()
        for row in rows:
            if row.state == "waiting":
                name = lane_of(row.kind).name
                ages[name] = max(ages[name], (now - row.oldest).total_seconds())
        description = "How long the oldest message that waits has waited, 0 where none does."
        gauge = GaugeMetricFamily("gatehouse_outbox_oldest_seconds", description, labels=("lane",))
        for name, age in ages.items():
            gauge.add_metric((name,), age)
        return gauge


def _messages(rows: Sequence[Any]) -> Metric:
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        counts[row.state, lane_of(row.kind).name] += row.messages
    gauge = GaugeMetricFamily(
        "gatehouse_outbox_messages",
        f"Messages in the outbox, at most {claims.MAX_COUNTED:,} of a kind.",
        labels=("state", "lane"),
    )
    for state in claims.UNSENT:
        for lane in LANES:
            gauge.add_metric((state, lane.name), counts[state, lane.name])
    return gauge


def _queues(counts: Mapping[str, int]) -> Metric:
    description = (
        "Receivers, such as webhooks, that fail and wait for their next attempt (paused), or take no more (full)."
    )
    gauge = GaugeMetricFamily("gatehouse_outbox_queues", description, labels=("state",))
    for state, count in counts.items():
        gauge.add_metric((state,), count)
    return gauge
