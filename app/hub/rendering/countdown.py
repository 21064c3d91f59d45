"""A wait: in words, or counted down."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from flask_babel import format_time

from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.web.services import services

_IN_SECONDS: Final = 90
"""The longest wait that is stated in seconds."""
IN_MINUTES: Final = 5400
"""The longest wait that is stated in minutes; in seconds."""


def retry_text(wait_seconds: int) -> Any:
    """Return when to try again, in words; 0 stands for an unknown wait."""
    if wait_seconds <= 0:
        return _l("Try again later.")
    if wait_seconds <= _IN_SECONDS:
        return _n("Try again in %(num)d second.", "Try again in %(num)d seconds.", wait_seconds)
    if wait_seconds <= IN_MINUTES:
        return _n("Try again in %(num)d minute.", "Try again in %(num)d minutes.", -(-wait_seconds // 60))
    return _n("Try again in %(num)d hour.", "Try again in %(num)d hours.", -(-wait_seconds // 3600))


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
