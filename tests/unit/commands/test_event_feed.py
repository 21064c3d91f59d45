"""What `gatehouse webhooks listen` reads from a log of deliveries that grows, is long, or fails to answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.commands.webhooks import event_feed
from app.commands.webhooks.event_feed import EventFeed
from app.commands.webhooks.management_api import Unreachable

BEGIN = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
Item = dict[str, Any]


@dataclass
class FakeApi:
    """A server with one webhook; `log` has (id, event, seconds), and `failing` the ids whose reading fails once."""

    log: list[tuple[str, str, float]] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    created: list[Item] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    def webhooks(self) -> list[Item]:
        return [
            {"Id": "old", "TargetUrl": "https://listener.invalid/laptop"},
            {"Id": "other", "TargetUrl": "https://a.example/"},
        ]

    def call(self, method: str, path: str, body: Item | None = None) -> Item:
        last = path.rpartition("/")[2]
        if method == "POST" and body is not None:
            self.created.append(body)
            return {"Id": "new"}
        if method == "DELETE":
            self.deleted.append(last)
            return {}
        if last in self.failing:
            self.failing.remove(last)
            raise Unreachable("no answer")
        return {"Request": {"Body": None if last == "erased" else last}}

    def deliveries(
        self, webhook_id: str, most: int, *, since: str | None = None, until: str | None = None
    ) -> Iterator[Item]:
        assert webhook_id == "new"
        newest = sorted(self.log, key=lambda item: item[2], reverse=True)
        items = [{"Id": name, "Event": event, "Time": iso(at)} for name, event, at in newest]
        chosen = [item for item in items if (since or "") <= item["Time"] and (until is None or item["Time"] < until)]
        yield from chosen[:most]


def iso(seconds: float) -> str:
    return (BEGIN + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def opened(api: FakeApi, *events: str) -> EventFeed:
    feed = EventFeed(api, "laptop", events)  # type: ignore[arg-type]  # as much of the API as the feed calls
    feed.open()
    return feed


def read(feed: EventFeed) -> list[str]:
    return [event.delivery_id for event in feed.new_events()]


def test_new_events_are_read_once_in_order() -> None:
    api = FakeApi([("b", "Login", 2), ("a", "Login", 1)])
    feed = opened(api)
    assert read(feed) == ["a", "b"]
    api.log.append(("c", "Register", 3))
    assert (read(feed), read(feed)) == (["c"], [])


def test_event_that_is_written_later_than_its_time_is_read() -> None:
    api = FakeApi([("late", "Login", 60)])
    feed = opened(api)
    assert read(feed) == ["late"]
    api.log.append(("slow", "Login", 1))
    assert read(feed) == ["slow"]


def test_reading_goes_on_where_the_server_failed() -> None:
    api = FakeApi([("a", "Login", 1), ("b", "Login", 2), ("c", "Login", 3)], failing={"b"})
    feed, got = opened(api), list[str]()
    with pytest.raises(Unreachable):
        got.extend(event.delivery_id for event in feed.new_events())
    assert (got, read(feed)) == (["a"], ["b", "c"])


def test_event_counts_as_read_once_it_was_handled() -> None:
    api = FakeApi([("a", "Login", 1)])
    feed = opened(api)
    assert next(feed.new_events()).delivery_id == "a"
    assert read(feed) == ["a"]


def test_long_log_is_read_completely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_feed, "MAX_LISTED", 3)
    names = [f"{number:02}" for number in range(10)]
    feed = opened(FakeApi([(name, "Login", float(name)) for name in names]))
    assert read(feed) == names
    assert read(feed) == []


def test_what_was_read_long_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_feed, "MAX_LISTED", 3)
    api = FakeApi([(f"{number}", "Login", 1_000.0 * number) for number in range(1, 9)])
    feed = opened(api)
    assert len(read(feed)) == 8
    assert (len(feed._seen) <= 4, read(feed)) == (True, [])


def test_erased_events_and_others_are_passed_over() -> None:
    log = [
        ("ping", "ping", 1.0),
        ("erased", "Login", 2.0),
        ("a", "Login", 3.0),
        ("b", "Register", 4.0),
        ("c", "SetPIN", 5.0),
    ]
    assert read(opened(FakeApi(log), "Login", "Register")) == ["ping", "a", "b"]


def test_earlier_listener_of_the_name_is_replaced() -> None:
    api = FakeApi()
    opened(api, "Login").close()
    assert api.deleted == ["old", "new"]
    assert api.created == [{"Event": "Login", "TargetUrl": "https://listener.invalid/laptop", "Name": "Listener"}]
