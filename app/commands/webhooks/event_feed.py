"""The events of a tenant, read from the log of a webhook to which nothing is sent: in order, none lost, none twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from app.commands.webhooks.management_api import ManagementApi
from app.contract.webhooks.events import EVERY_EVENT
from app.contract.webhooks.targets import LISTENER_HOST
from app.kit.clock import iso

MAX_LISTED: Final = 10_000
"""How many deliveries the log's pages reach; older ones are selected by time."""
_OVERLAP: Final = timedelta(minutes=2)
"""How far each reading goes back: a request writes its events into the log when it ends, later than their time."""
_PING: Final = "ping"


@dataclass(frozen=True)
class Event:
    """An event, with the bytes that a webhook gets."""

    delivery_id: str
    name: str
    body: bytes


class EventFeed:
    """Reads what has arrived since the last reading.

    Args:
        name: of the listener; another one of the same name is ended.
        events: their names; none for all.
    """

    def __init__(self, api: ManagementApi, name: str, events: Sequence[str]) -> None:
        self._api, self._events = api, frozenset(events)
        self._target = f"https://{LISTENER_HOST}/{name}"
        self._webhook_id = ""
        self._since: datetime | None = None
        self._seen: dict[str, datetime] = {}

    def open(self) -> None:
        """Create the webhook. Raises CommandError."""
        for webhook in self._api.webhooks():
            if webhook["TargetUrl"] == self._target:
                self._api.call("DELETE", f"/webhooks/{webhook['Id']}")
        event = next(iter(self._events)) if len(self._events) == 1 else EVERY_EVENT
        created = self._api.call("POST", "/webhooks", {"Event": event, "TargetUrl": self._target, "Name": "Listener"})
        self._webhook_id = str(created["Id"])

    def close(self) -> None:
        """Delete the webhook, and with it what only it has stored. Raises CommandError."""
        self._api.call("DELETE", f"/webhooks/{self._webhook_id}")

    def new_events(self) -> Iterator[Event]:
        """Yield the events that are new, the oldest first; an event counts as read when the next one is asked for.

        Raises CommandError.
        """
        for item in self._log():
            if item["Id"] in self._seen:
                continue
            if not self._events or item["Event"] in (*self._events, _PING):
                yield from self._event(item)
            self._note(item)

    def _event(self, item: dict[str, Any]) -> Iterator[Event]:
        shown = self._api.call("GET", f"/webhooks/{self._webhook_id}/deliveries/{item['Id']}")
        if shown["Request"]["Body"] is not None:  # erased, once its account is deleted
            yield Event(item["Id"], item["Event"], shown["Request"]["Body"].encode())

    def _log(self) -> list[dict[str, Any]]:
        """Return what the log has, the oldest first, from a while before the newest event that is known."""
        since = None if self._since is None else iso(self._since - _OVERLAP)
        found: dict[str, dict[str, Any]] = {}
        until: str | None = None
        while True:
            part = list(self._api.deliveries(self._webhook_id, MAX_LISTED, since=since, until=until))
            before = len(found)
            for item in part:
                found.setdefault(item["Id"], item)
            if len(part) < MAX_LISTED or len(found) == before:
                return list(reversed(found.values()))
            until = iso(_time(part[-1]) + timedelta(milliseconds=1))

    def _note(self, item: dict[str, Any]) -> None:
        at = _time(item)
        self._seen[item["Id"]] = at
        self._since = at if self._since is None else max(self._since, at)
        if len(self._seen) > MAX_LISTED:
            oldest = self._since - 2 * _OVERLAP
            self._seen = {known: seen_at for known, seen_at in self._seen.items() if seen_at >= oldest}


def _time(item: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(item["Time"])
