"""How one signs in other than with a password: what the sign-in page lists below its form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask_babel import lazy_gettext as _l

from app.contract.hub import CONNECTION_METHOD
from app.hub.visit import current_visit

MAIL, SMS, DEVICE = "mail", "sms", "device"
ELSEWHERE: Final = "/sign-in/with"
ADDRESSES: Final = {MAIL: "/sign-in/mail", SMS: "/sign-in/sms", DEVICE: "/sign-in/device"}


@dataclass(frozen=True)
class SignInMethod:
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


def tenant_methods() -> tuple[SignInMethod, ...]:
    """Return what the tenant has switched on, in its order."""
    return tuple(_way(name) for name in current_visit().tenant.ways if name in _ROWS)


def connection_methods() -> tuple[SignInMethod, ...]:
    """Return the other providers of the tenant, in its order."""
    return tuple(_elsewhere(name, title) for name, title in current_visit().tenant.connections)


def sample_connection_methods() -> tuple[SignInMethod, ...]:
    """Return more than stand open on a page; for samples."""
    titles = ("Google", "Microsoft", "GitHub", "LinkedIn", "Facebook")
    return tuple(_elsewhere(title.lower(), title) for title in titles)


def sample_methods() -> tuple[SignInMethod, ...]:
    """Return every way there is; for samples."""
    return tuple(_way(name) for name in _ROWS)


def _elsewhere(name: str, title: str) -> SignInMethod:
    interaction = current_visit().interaction
    query = urlencode({"provider": name, **({"attempt": interaction.id} if interaction else {})})
    return SignInMethod(
        _l("Continue with %(title)s", title=title), "", "link", f"{ELSEWHERE}?{query}", f"{CONNECTION_METHOD}{name}"
    )


def _way(name: str) -> SignInMethod:
    interaction = current_visit().interaction
    address = f"{ADDRESSES[name]}?attempt={interaction.id}" if interaction else ADDRESSES[name]
    return SignInMethod(*_ROWS[name], address, name)
