"""The outbox as a measurement: asked of the store when somebody looks, so that all processes tell the same."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.identity.store.database import Database, StoreUnavailable
from app.identity.tasks import claims


class OutboxGauge(Collector):
    """`gatehouse_outbox_messages` by state: waiting, dead."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def describe(self) -> Iterable[Metric]:
        """Say nothing at registration: the store may not be there yet."""
        return ()

    def collect(self) -> Iterable[Metric]:
        gauge = GaugeMetricFamily("gatehouse_outbox_messages", "Messages in the outbox.", labels=("state",))
        try:
            for state, count in claims.counts(self._database).items():
                gauge.add_metric((state,), count)
        except StoreUnavailable:
            return
        yield gauge
