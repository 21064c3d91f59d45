"""The identifier that a visitor typed on the sign-in page, carried to the page of another method or of a forgotten password.

An encrypted cookie, never an address, carries it for a few minutes within one interaction. Only links of our own pages display it:
on a shared computer, the next person who opens the page does not see the identifier.
"""

from __future__ import annotations

import re
from typing import Any, Final

from flask import Response

from app.hub.web.cookies import delete_cookie, set_cookie
from app.hub.web.services import services
from app.hub.web.visit import current_visit

_LIFETIME_SECONDS: Final = 600
_MAX_LENGTH: Final = 320
_OWN: Final = "same-origin"
_PHONE: Final = re.compile(r"\+?[\d ()./-]{5,30}")


def carry_identifier(response: Response, typed: str) -> Response:
    """Set the cookie with the typed identifier for the next pages of this interaction; an empty identifier deletes the cookie."""
    name, identifier = services().identifier_cookie, typed.strip()
    if identifier and len(identifier) <= _MAX_LENGTH:
        content = [current_visit().interaction_id or "", identifier]
        set_cookie(response, name, services().cookie_cipher.encrypt(content, _context()), _LIFETIME_SECONDS)
    elif name in current_visit().cookies:
        delete_cookie(response, name)
    return response


def prefilled_identifier() -> str:
    """Return the identifier typed last in this interaction, else the application's login hint; empty if there is neither."""
    interaction = current_visit().interaction
    return carried_identifier() or (interaction.hint if interaction else "")


def is_phone(identifier: str) -> bool:
    """Return whether an identifier looks like a phone number; only the form's operation knows whether it is one."""
    return _PHONE.fullmatch(identifier) is not None


def carried_identifier() -> str:
    """Return the identifier typed last in this interaction; empty if there is none."""
    visit = current_visit()
    is_own_link = visit.environ.get("HTTP_SEC_FETCH_SITE", _OWN) == _OWN
    value = visit.cookies.get(services().identifier_cookie, "") if is_own_link else ""
    content: Any = services().cookie_cipher.decrypt(value, _context()) if value else None
    if not isinstance(content, list) or content[0] != (visit.interaction_id or ""):
        return ""
    return str(content[1])


def _context() -> str:
    return f"{current_visit().tenant.name} identifier"
