"""Rate limits in a process's memory follow the services' clock, and their windows slide."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.kit import randomness
from app.kit.clock import FixedClock
from app.kit.limits import sliding_window
from app.kit.limits.rate_limits import OverLimit, Rate, RateLimits
from app.kit.limits.shared_store import SharedStore
from tests.support.races import at_once

THREE_A_MINUTE = Rate(3, 60)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 1, 1, 12, 0, 1, tzinfo=UTC))


def admitted(limits: RateLimits, requested: int = 6) -> int:
    """Return how many of the events are admitted."""
    count = 0
    for _ in range(requested):
        try:
            limits.count_against("tries", THREE_A_MINUTE, "acme")
        except OverLimit:
            continue
        count += 1
    return count


def test_limit_is_used_up_until_the_clock_moves(clock: FixedClock) -> None:
    limits = RateLimits(clock=clock)
    assert admitted(limits) == 3
    with pytest.raises(OverLimit):
        limits.refuse_over_limit("tries", THREE_A_MINUTE, "acme")
    clock.advance(minutes=2)
    limits.refuse_over_limit("tries", THREE_A_MINUTE, "acme")
    assert admitted(limits) == 3


@pytest.mark.parametrize(("seconds", "expected"), [(58, 0), (60, 1), (78, 1), (80, 2), (98, 2), (100, 3)])
def test_earlier_window_counts_by_its_share(clock: FixedClock, seconds: int, expected: int) -> None:
    limits = RateLimits(clock=clock)
    assert admitted(limits) == 3
    clock.advance(seconds=seconds)
    assert admitted(limits) == expected


@pytest.mark.parametrize("passed", [0, 45])
def test_refusal_states_the_seconds_until_an_event_is_admitted(clock: FixedClock, passed: int) -> None:
    limits = RateLimits(clock=clock)
    admitted(limits)
    clock.advance(seconds=passed)
    with pytest.raises(OverLimit) as refused:
        limits.count_against("tries", THREE_A_MINUTE, "acme")
    assert refused.value.retry_after_seconds == 59 - passed


def test_all_events_of_a_request_count_or_none(clock: FixedClock) -> None:
    limits = RateLimits(clock=clock)
    limits.count_against("tries", THREE_A_MINUTE, "acme", count=2)
    with pytest.raises(OverLimit):
        limits.count_against("tries", THREE_A_MINUTE, "acme", count=2)
    limits.count_against("tries", THREE_A_MINUTE, "acme")


def test_clock_put_back_admits_no_more(clock: FixedClock) -> None:
    limits = RateLimits(clock=clock)
    assert admitted(limits) == 3
    clock.advance(hours=-1)
    clock.advance(hours=1)
    assert admitted(limits) == 0


@pytest.fixture(params=["memory", "redis"])
def counters(request: pytest.FixtureRequest) -> RateLimits:
    return RateLimits(SharedStore(request.getfixturevalue("redis_url")) if request.param == "redis" else None)


def test_event_that_is_given_back_is_not_counted(counters: RateLimits) -> None:
    what = randomness.token()
    for _ in range(10):
        counters.count_against(what, THREE_A_MINUTE, "acme")
        counters.give_back(what, THREE_A_MINUTE, "acme")
    for _ in range(3):
        counters.give_back(what, THREE_A_MINUTE, "acme")
    counters.count_against(what, THREE_A_MINUTE, "acme", count=3)
    with pytest.raises(OverLimit):
        counters.count_against(what, THREE_A_MINUTE, "acme")
    counters.give_back(what, THREE_A_MINUTE, "globex")
    with pytest.raises(OverLimit):
        counters.count_against(what, THREE_A_MINUTE, "acme")


def test_events_given_back_at_once_are_all_taken_back(counters: RateLimits) -> None:
    what, rate = randomness.token(), Rate(20, 3_600)
    counters.count_against(what, rate, "acme", count=20)
    at_once([lambda: counters.give_back(what, rate, "acme")] * 20)
    counters.count_against(what, rate, "acme", count=20)
    with pytest.raises(OverLimit):
        counters.count_against(what, rate, "acme")


def test_event_of_earlier_window_is_taken_back_there(clock: FixedClock) -> None:
    limits = RateLimits(clock=clock)
    assert admitted(limits) == 3
    clock.advance(seconds=60)
    for _ in range(3):
        limits.give_back("tries", THREE_A_MINUTE, "acme")
    assert admitted(limits) == 3


def test_counters_of_many_callers_stay_below_their_bound(clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sliding_window, "MAX_COUNTERS", 100)
    counts = sliding_window.WindowCounts(clock)
    for number in range(1_000):
        assert counts.add(("tries", f"192.0.2.{number}"), 3, 60, 1) is None
        assert len(counts._counts) <= 100


def test_used_up_limit_outlives_counters_of_many_callers(clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sliding_window, "MAX_COUNTERS", 100)
    limits = RateLimits(clock=clock)
    assert admitted(limits) == 3
    for number in range(1_000):
        limits.count_against("tries", THREE_A_MINUTE, f"192.0.2.{number}")
    assert admitted(limits) == 0
