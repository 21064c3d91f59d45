"""The scopes that an application asks for, described for the person who is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from flask_babel import lazy_gettext as _l

from app.contract.auth import ACCOUNT_READ, ACCOUNT_WRITE


@dataclass(frozen=True)
class Scope:
    """A requested scope."""

    name: str
    description: str = ""
    """The tenant's own description; empty if it has none."""

    @property
    def words(self) -> Any:
        """The description shown on the page."""
        return self.description or _DESCRIPTIONS.get(self.name, self.name)


_DESCRIPTIONS: Final = {
    "openid": _l("Know that it is you"),
    "profile": _l("See your name, picture and language"),
    "email": _l("See your email address"),
    "phone": _l("See your phone number"),
    "address": _l("See your postal address"),
    "offline_access": _l("Keep access while you are away"),
    ACCOUNT_READ: _l("See your full profile, your consents and your passkeys"),
    ACCOUNT_WRITE: _l(
        "Change your profile and consents; once you confirm it’s you, also change how you sign in or delete your account"
    ),
}


DEFAULT_SCOPES: Final = (Scope("openid"),)
"""The scopes of a request without any."""
