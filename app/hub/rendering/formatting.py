"""Texts for browsers, dates, durations and scopes in the visitor's language."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, Final

from babel import Locale
from babel.dates import format_skeleton
from flask_babel import format_date, format_timedelta, get_locale

from app.contract.auth import ACCOUNT_READ, ACCOUNT_WRITE
from app.hub.locale import current_language
from app.hub.locale import lazy_gettext as _l
from app.hub.web.services import services
from app.kit.text.typography import unbroken


def browser_label(browser: str | None, system: str | None) -> Any:
    """Return a text such as "Firefox on Windows", as far as browser and system are known."""
    if browser and system:
        return _l("%(browser)s on %(system)s", browser=browser, system=system)
    return browser or system or _l("Unknown browser")


def time_ago(instant: str) -> str:
    """Return how long ago an ISO 8601 instant was."""
    text: str = format_timedelta(datetime.fromisoformat(instant) - services().clock.now(), add_direction=True)
    return text


def format_day(instant: str | None) -> str:
    """Return the date of an ISO 8601 instant; empty if it is missing or malformed."""
    if not instant:
        return ""
    try:
        return unbroken(format_date(datetime.fromisoformat(instant), "long"))
    except ValueError:
        return ""


def format_month(instant: str | None) -> str:
    """Return the month and year of an ISO 8601 instant; empty without one."""
    if not instant:
        return ""
    month: str = format_skeleton("yMMMM", datetime.fromisoformat(instant), locale=get_locale())
    return month


def long_date(day: date) -> str:
    """Return a date in the visitor's language, as “December 10, 1815”."""
    return _long_dates(current_language().tag)[day.month - 1] % {"d": day.day, "y": day.year}


@cache
def _long_dates(tag: str) -> tuple[str, ...]:
    """Return Babel's long date of each month with placeholders for day and year: Babel would parse its pattern for each date."""
    locale = Locale.parse(tag, sep="-")
    pattern, months = locale.date_formats["long"].format, locale.months["format"]["wide"]
    return tuple(pattern % {"MMMM": months[month], "d": "%(d)d", "y": "%(y)d"} for month in range(1, 13))


def short_day(instant: str | None) -> str:
    """Return the date as rows show it: "Nov 20", with the year if it is another one. Empty if it is missing or malformed."""
    if not instant:
        return ""
    try:
        moment = datetime.fromisoformat(instant)
    except ValueError:
        return ""
    is_this_year = moment.year == services().clock.now().year
    return unbroken(format_skeleton("MMMd" if is_this_year else "yMMMd", moment, locale=get_locale()))


@dataclass(frozen=True)
class Scope:
    """A requested scope."""

    name: str
    description: str = ""
    """The tenant's own description; empty if it has none."""
    is_optional: bool = False
    """Whether the visitor may leave it out."""

    @property
    def text(self) -> Any:
        """The description shown on the page."""
        return self.description or _DESCRIPTIONS.get(self.name) or _l("Access to %(scope)s", scope=self.name)

    @property
    def rank(self) -> int:
        """Its position in a list: first what lets the app change the account, then identity, the tenant's own scopes last."""
        return list(_DESCRIPTIONS).index(self.name) if self.name in _DESCRIPTIONS else len(_DESCRIPTIONS)

    @property
    def is_sensitive(self) -> bool:
        """Whether it lets the app change how the account signs in, or delete the account."""
        return self.name == ACCOUNT_WRITE

    @property
    def note(self) -> Any:
        """What the visitor should know about it in addition; empty if nothing."""
        return _l("Until you remove it under “Apps and data”") if self.name == "offline_access" else ""

    @property
    def icon(self) -> str:
        """The name of its icon."""
        return _ICONS.get(self.name, "key")


_DESCRIPTIONS: Final = {
    ACCOUNT_WRITE: _l("Change anything in your account, even delete it"),
    "openid": _l("Confirm your identity"),
    "profile": _l("See your name, picture and language"),
    "email": _l("See your email address"),
    "phone": _l("See your phone number"),
    "address": _l("See your postal address"),
    "roles": _l("See your roles"),
    "permissions": _l("See what your roles allow"),
    "offline_access": _l("Keep access when you’re not using it"),
    ACCOUNT_READ: _l("See your full profile, your consents and your passkeys"),
}


_ICONS: Final = {
    "openid": "shield",
    "profile": "person",
    "email": "mail",
    "phone": "phone",
    "address": "map",
    "roles": "person",
    "permissions": "list",
    "offline_access": "clock",
    ACCOUNT_READ: "list",
    ACCOUNT_WRITE: "warn",
}
DEFAULT_SCOPES: Final = (Scope("openid"),)
"""The scopes of a request without any."""
