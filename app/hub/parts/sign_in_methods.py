"""Sign-in methods other than the password, as the login page lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask_babel import lazy_gettext as _l

from app.contract.hub import CONNECTION_METHOD
from app.hub.visit import current_visit, interaction_address

MAIL, SMS, DEVICE = "mail", "sms", "device"
ELSEWHERE: Final = "/sign-in/with"
ADDRESSES: Final = {MAIL: "/sign-in/mail", SMS: "/sign-in/sms", DEVICE: "/sign-in/device"}


@dataclass(frozen=True)
class SignInMethod:
    """A method as a row of the list."""

    name: Any
    hint: Any
    icon: str
    address: str
    key: str = ""


_ROWS: Final = {
    MAIL: (_l("Email me a link"), _l("No password needed"), "at"),
    SMS: (_l("Text me a code"), _l("No password needed"), "phone"),
    DEVICE: (_l("Approve on another device"), _l("We’ll email you"), "computer"),
}


def tenant_methods() -> tuple[SignInMethod, ...]:
    """Return the tenant's passwordless methods, in its order."""
    return tuple(_passwordless_method(name) for name in current_visit().tenant.passwordless_methods if name in _ROWS)


def connection_methods() -> tuple[SignInMethod, ...]:
    """Return the tenant's upstream connections, in its order."""
    return tuple(_connection_method(name, title) for name, title in current_visit().tenant.connections)


def sample_connection_methods() -> tuple[SignInMethod, ...]:
    """Return sample connections, more than a page shows at once."""
    titles = ("Google", "Microsoft", "GitHub", "LinkedIn", "Facebook")
    return tuple(_connection_method(title.lower(), title) for title in titles)


def sample_methods() -> tuple[SignInMethod, ...]:
    """Return all passwordless methods, for samples."""
    return tuple(_passwordless_method(name) for name in _ROWS)


def _connection_method(name: str, title: str) -> SignInMethod:
    interaction = current_visit().interaction
    query = urlencode({"provider": name, **({"attempt": interaction.id} if interaction else {})})
    return SignInMethod(
        _l("Continue with %(title)s", title=title), "", "link", f"{ELSEWHERE}?{query}", f"{CONNECTION_METHOD}{name}"
    )


def _passwordless_method(name: str) -> SignInMethod:
    return SignInMethod(*_ROWS[name], interaction_address(ADDRESSES[name]), name)
