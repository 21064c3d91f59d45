"""Sign-in methods other than the password, as the login page shows them, and the one that this browser used last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, has_request_context, request
from flask_babel import lazy_gettext as _l
from flask_babel import lazy_pgettext as pgettext

from app.contract.hub import CONNECTION_METHOD
from app.hub.cookies import set_cookie
from app.hub.services import services
from app.hub.visit import current_visit, interaction_address

PASSWORD, PASSKEY = "password", "passkey"
MAIL, SMS, DEVICE = "mail", "sms", "device"
ELSEWHERE: Final = "/sign-in/with"
_REMEMBERED_SECONDS: Final = 180 * 24 * 3600
ADDRESSES: Final = {PASSKEY: "/login/passkey", MAIL: "/sign-in/mail", SMS: "/sign-in/sms", DEVICE: "/sign-in/device"}


@dataclass(frozen=True)
class SignInMethod:
    """A method as a button of the login page."""

    name: Any
    """The whole sentence, such as "Continue with Google"; contains `short_name`."""
    short_name: Any
    """One or two words, for a tile."""
    icon: str
    """An icon's name; empty for a connection, which has its provider's mark or initial."""
    address: str
    key: str
    """What the cookie of the last used method holds."""


_METHODS: Final = {
    PASSKEY: (_l("Sign in with a passkey"), pgettext("way to sign in", "Passkey"), "passkey"),
    MAIL: (_l("Get an email link"), pgettext("way to sign in", "Email link"), "at"),
    SMS: (_l("Get a text code"), pgettext("way to sign in", "Text code"), "message"),
    DEVICE: (_l("Use your other device"), pgettext("way to sign in", "Other device"), "devices"),
}


def tenant_methods() -> tuple[SignInMethod, ...]:
    """Return the tenant's passwordless methods, in its order."""
    return tuple(_own_method(name) for name in current_visit().tenant.passwordless_methods if name in _METHODS)


def last_used() -> str:
    """Return the key of the method that this browser used last; empty if unknown, or if the tenant has no such method."""
    key = request.cookies.get(services().last_method_cookie, "") if has_request_context() else ""
    tenant = current_visit().tenant
    offered = {PASSKEY, *tenant.passwordless_methods, *(f"{CONNECTION_METHOD}{name}" for name, _ in tenant.connections)}
    return key if key in offered else ""


def remember_method(response: Response, key: str) -> Response:
    """Remember the method that this browser used; the cookie holds its key and nothing about the account."""
    set_cookie(response, services().last_method_cookie, key, _REMEMBERED_SECONDS)
    return response


def tile_count(methods: Sequence[SignInMethod]) -> int:
    """Return how many methods two rows of four tiles hold; the passkey's tile is two columns wide."""
    return 7 if any(method.key == PASSKEY for method in methods) else 8


def connection_methods() -> tuple[SignInMethod, ...]:
    """Return the tenant's upstream connections, in its order."""
    return tuple(_connection_method(name, title) for name, title in current_visit().tenant.connections)


def sample_connection_methods() -> tuple[SignInMethod, ...]:
    """Return sample connections, more than a page shows at once."""
    titles = {"google": "Google", "live": "Microsoft", "github": "GitHub", "linkedin": "LinkedIn", "initech": "Initech"}
    return tuple(_connection_method(name, title) for name, title in titles.items())


def sample_methods() -> tuple[SignInMethod, ...]:
    """Return all passwordless methods, for samples."""
    return tuple(_own_method(name) for name in (MAIL, SMS, DEVICE))


def passkey_method(*, is_again: bool = False) -> SignInMethod:
    """Return the passkey, which the page shows as a form. `is_again`: a signed-in account reauthenticates."""
    method = _own_method(PASSKEY)
    return replace(method, name=_l("Use a passkey")) if is_again else method


def _connection_method(name: str, title: str) -> SignInMethod:
    interaction = current_visit().interaction
    query = urlencode({"provider": name, **({"attempt": interaction.id} if interaction else {})})
    sentence = _l("Continue with %(title)s", title=title)
    return SignInMethod(sentence, title, "", f"{ELSEWHERE}?{query}", f"{CONNECTION_METHOD}{name}")


def _own_method(name: str) -> SignInMethod:
    return SignInMethod(*_METHODS[name], interaction_address(ADDRESSES[name]), name)
