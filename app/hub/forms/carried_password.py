"""The password of a form that must pass a captcha first: the page of the captcha carries it encrypted, so that it is typed once.

The server keeps nothing. The value decrypts for a few minutes, in the same browser and interaction of the same tenant, and only
beside the identifier and the challenge that it was made for (decision 0407). A page with the next challenge does not prolong it.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from app.hub.web.services import services
from app.hub.web.visit import current_visit

_LIFETIME_SECONDS: Final = 600
_PADDED_BYTES: Final = 64
"""The size of the page tells the length of the password to the next multiple of this."""


class TypedPassword(NamedTuple):
    """A password, and the instant, in seconds since 1970, when it must be typed again."""

    text: str
    expires_at: int


def typed_now(text: str) -> TypedPassword:
    return TypedPassword(text, services().now() + _LIFETIME_SECONDS)


def encrypt(password: TypedPassword, identifier: str, challenge: str) -> str:
    """Return the password encrypted; `challenge` is the token of the captcha, empty beside a provider's widget alone."""
    padding = " " * (-len(password.text.encode("utf-8", "surrogatepass")) % _PADDED_BYTES)
    return services().cookie_cipher.encrypt([*password, padding], _context(identifier, challenge))


def decrypt(encrypted: str, identifier: str, challenge: str) -> TypedPassword | None:
    """Return the password; None if it is expired, or was not encrypted for this identifier, challenge and browser."""
    content = services().cookie_cipher.decrypt(encrypted, _context(identifier, challenge))
    if not isinstance(content, list):
        return None
    password = TypedPassword(content[0], content[1])
    return password if password.expires_at > services().now() else None


def _context(identifier: str, challenge: str) -> str:
    visit = current_visit()
    bound_to = (visit.interaction_id or "", visit.binding_secret, identifier, challenge)
    return json.dumps([f"{visit.tenant.name} password", *bound_to])
