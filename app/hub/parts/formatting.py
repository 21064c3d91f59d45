"""How pages name the browsers in which an account is known, and the moments of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from flask_babel import format_date, format_timedelta
from flask_babel import lazy_gettext as _l

from app.hub.services import services


def browser_label(browser: str | None, system: str | None) -> Any:
    """Return "Firefox on Windows", or what is known of it."""
    if browser and system:
        return _l("%(browser)s on %(system)s", browser=browser, system=system)
    return browser or system or _l("Unknown browser")


def time_ago(instant: str) -> str:
    """Return how long ago something was."""
    words: str = format_timedelta(datetime.fromisoformat(instant) - services().clock.now(), add_direction=True)
    return words


def format_day(instant: str | None) -> str:
    """Return the day of an instant in the visitor's language; nothing where there is none."""
    if not instant:
        return ""
    try:
        day: str = format_date(datetime.fromisoformat(instant), "long")
    except ValueError:
        return ""
    return day
