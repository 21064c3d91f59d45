"""Account pages: where a sign-in or a reauthentication that one of them needs returns to.

Without a session, any call of an account page raises SignInRequired; `exception_pages.py` then begins a sign-in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import urlencode

from app.contract.accounts.pages.reauthentication_pages import AccountView, OfAccount, RequiredReauthentication
from app.hub.client.identity_client import SignInRequired
from app.hub.web.services import api
from app.hub.web.visit import Visit, current_visit
from app.kit.operations.operation import Operation
from app.kit.operations.wire import Wire

DEFAULT: Final = "/profile"
_PARAMETER: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


_Request = TypeVar("_Request", bound=Wire)
_Shown = TypeVar("_Shown", bound=OfAccount)


class ReauthenticationRequired(Exception):
    """The session's authentication is too old for the page; `exception_pages.py` leads to the page that reauthenticates."""


@dataclass(frozen=True)
class Landing:
    """Where a sign-in from an account page continues."""

    address: str
    parameter: str
    """Empty for a page that is the same for all parameters."""
    field: str

    def of(self, visit: Visit) -> str:
        """Return the address with the parameter that the visit's address or form has."""
        value = visit.query.get(self.parameter) or visit.form.get(self.field, "")
        is_valid = self.parameter and _PARAMETER.fullmatch(value)
        return f"{self.address}?{urlencode({self.parameter: value})}" if is_valid else self.address


LANDINGS: Final[dict[str, Landing]] = {}
"""By the address of an account page."""


def landing_of(visit: Visit) -> str:
    """Return the account page at which a sign-in or reauthentication from this page continues."""
    landing = LANDINGS.get(visit.path)
    return landing.of(visit) if landing is not None else DEFAULT


def is_landing(address: str) -> bool:
    """Return whether a sign-in may continue at an address: that of an account page, with at most its parameter."""
    path, _, query = address.partition("?")
    landing = LANDINGS.get(path)
    if landing is None or landing.address != path:
        return False
    name, _, value = query.partition("=")
    return not query or (name == landing.parameter and _PARAMETER.fullmatch(value) is not None)


def read_account(operation: Operation[_Request, _Shown], request: _Request) -> _Shown:
    """Return what an account page shows; the rest of the visit uses the account's language. Raises SignInRequired."""
    visit = current_visit()
    if not visit.session:
        raise SignInRequired
    view = api()(operation, request)
    visit.use_account_language(view.person)
    return view


def require_reauthentication(view: AccountView) -> None:
    """Raise ReauthenticationRequired for an old authentication, unless the password in the form of the change suffices."""
    if view.reauthentication is RequiredReauthentication.STRONGER:
        raise ReauthenticationRequired
