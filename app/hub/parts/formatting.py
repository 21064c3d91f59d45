"""Texts for browsers, dates and durations in the visitor's language."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from flask_babel import format_date, format_timedelta
from flask_babel import lazy_gettext as _l

from app.hub.services import services


def browser_label(browser: str | None, system: str | None) -> Any:
    """Return a text such as "Firefox on Windows", as far as browser and system are known."""
    if browser and system:
        return _l("%(browser)s on %(system)s", browser=browser, system=system)
    return browser or system or _l("Unknown browser")


def time_ago(instant: str) -> str:
    """Return how long ago an ISO 8601 instant was."""
    words: str = format_timedelta(datetime.fromisoformat(instant) - services().clock.now(), add_direction=True)
    return words


def format_day(instant: str | None) -> str:
    """Return the date of an ISO 8601 instant; empty if it is missing or malformed."""
    if not instant:
        return ""
    try:
        day: str = format_date(datetime.fromisoformat(instant), "long")
    except ValueError:
        return ""
    return day
