"""The only place that asks the time. Instants are aware datetimes in UTC."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time; passed in, so that a test can hold it still."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class FixedClock:
    """A clock that moves only when told."""

    def __init__(self, at: datetime | None = None) -> None:
        self.at = at or datetime(2026, 1, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def advance(self, **by: float) -> None:
        """Move on by a `timedelta`'s keywords."""
        self.at += timedelta(**by)


def monotonic() -> float:
    """Return seconds from an arbitrary start, for measuring spans."""
    return time.monotonic()


def thread_cpu_seconds() -> float:
    """Return the CPU time of this thread, for measuring what a piece of work costs."""
    return time.thread_time()


def sleep(seconds: float) -> None:
    """Wait; only background loops may."""
    time.sleep(seconds)


def iso(at: datetime | None) -> str | None:
    """Return the interface's date-time: ISO 8601, UTC, milliseconds, `Z`."""
    if at is None:
        return None
    return aware(at).astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def aware(at: datetime) -> datetime:
    """Return the instant with its zone; SQLite gives back naive UTC."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)
