"""A wait that a page counts down."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from flask_babel import format_time

from app.hub.web.services import services

MAX_COUNTDOWN: Final = 3600
"""Seconds; pages name a longer wait in words."""


@dataclass(frozen=True)
class Countdown:
    """A wait that a page counts down; the server enforces it.

    The page also shows the clock time, for screen readers and for browsers without scripts. The server does not know the
    visitor's time zone, so it is UTC; the script shows it in the browser's.
    """

    seconds: int

    @property
    def instant(self) -> str:
        """The end of the wait in ISO 8601."""
        return self._end.isoformat(timespec="seconds")

    @property
    def clock(self) -> str:
        """The end of the wait as a clock time in the visitor's language; with seconds for a wait under two minutes."""
        text: str = format_time(self._end, "medium" if self.seconds < 120 else "short", rebase=False)
        return f"{text} UTC"

    @property
    def _end(self) -> datetime:
        return services().clock.now() + timedelta(seconds=self.seconds)
