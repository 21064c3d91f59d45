"""How one signs in other than with a password: what the sign-in page lists below its form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask_babel import lazy_gettext as _l

from app.contract.hub import CONNECTION_WAY
from app.hub import visit

MAIL, SMS, DEVICE = "mail", "sms", "device"
ELSEWHERE: Final = "/sign-in/with"
ADDRESSES: Final = {MAIL: "/sign-in/mail", SMS: "/sign-in/sms", DEVICE: "/sign-in/device"}


@dataclass(frozen=True)
class OtherWay:
    """One row of the list."""

    name: Any
    hint: Any
    icon: str
    address: str
    key: str = ""


_ROWS: Final = {
    MAIL: (_l("Email me a link"), _l("No password needed"), "at"),
    SMS: (_l("Text me a code"), _l("No password needed"), "phone"),
    DEVICE: (_l("Say yes on another device"), _l("Where you read your mail"), "computer"),
}


def offered() -> tuple[OtherWay, ...]:
    """Return what the tenant has switched on, in its order."""
    return tuple(_way(name) for name in visit.current().tenant.ways if name in _ROWS)


def connections() -> tuple[OtherWay, ...]:
    """Return the other providers of the tenant, in its order."""
    return tuple(_elsewhere(name, title) for name, title in visit.current().tenant.connections)


def sample_connections() -> tuple[OtherWay, ...]:
    """Return more than stand open on a page; for samples."""
    titles = ("Google", "Microsoft", "GitHub", "LinkedIn", "Facebook")
    return tuple(_elsewhere(title.lower(), title) for title in titles)


def every_way() -> tuple[OtherWay, ...]:
    """Return every way there is; for samples."""
    return tuple(_way(name) for name in _ROWS)


def _elsewhere(name: str, title: str) -> OtherWay:
    attempt = visit.current().attempt
    query = urlencode({"provider": name, **({"attempt": attempt.id} if attempt else {})})
    return OtherWay(
        _l("Continue with %(title)s", title=title), "", "link", f"{ELSEWHERE}?{query}", f"{CONNECTION_WAY}{name}"
    )


def _way(name: str) -> OtherWay:
    attempt = visit.current().attempt
    address = f"{ADDRESSES[name]}?attempt={attempt.id}" if attempt else ADDRESSES[name]
    return OtherWay(*_ROWS[name], address, name)
