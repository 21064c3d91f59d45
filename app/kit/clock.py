"""The only place that reads the time. Instants are aware datetimes in UTC."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol


class Clock(Protocol):
    """Returns the time; passed as a parameter, so that tests can fix it."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class FixedClock:
    """A clock that moves only by `advance`."""

    def __init__(self, at: datetime | None = None) -> None:
        self.at = at or datetime(2026, 1, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def advance(self, **by: float) -> None:
        """Advance by the keywords of `timedelta`."""
        self.at += timedelta(**by)


monotonic: Final = time.monotonic
"""Returns seconds from an arbitrary start, for measuring durations."""
thread_cpu_seconds: Final = time.thread_time
"""Returns the CPU time of this thread, for measuring the cost of work."""


def sleep(seconds: float) -> None:
    """Sleep; for background loops only."""
    time.sleep(seconds)


def iso(at: datetime | None) -> str | None:
    """Return the interface's date-time: ISO 8601, UTC, milliseconds, `Z`."""
    if at is None:
        return None
    if at.tzinfo is not UTC:
        at = aware(at).astimezone(UTC)
    return at.isoformat(timespec="milliseconds")[:-6] + "Z"


def aware(at: datetime) -> datetime:
    """Return the instant with its time zone; SQLite returns naive UTC."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)
