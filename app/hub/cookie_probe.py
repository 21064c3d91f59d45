"""Find out whether a browser blocks cookies: set one, redirect to the same page once, and look whether it comes back."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from flask import Response, request

from app.hub import plain_responses
from app.hub.parts.error_pages import CookiesBlockedPage
from app.hub.visit import current_visit, requested_interaction_id

PARAMETER: Final = "cookies"
_ASKED: Final = "asked"
_MAX_ID_LENGTH: Final = 64


def response() -> Response | None:
    """Return the redirect that asks for a cookie, or the page for a browser that sent none back; None if it has cookies."""
    visit = current_visit()
    if visit.has_cookies:
        return None
    interaction_id = requested_interaction_id()
    asked = {"attempt": interaction_id} if 0 < len(interaction_id) <= _MAX_ID_LENGTH else {}
    path = "/" + request.path.lstrip("/\\")  # never an address of another host
    if visit.query.get(PARAMETER) == _ASKED:
        return CookiesBlockedPage(f"{path}?{urlencode(asked)}" if asked else path).render(403)
    _ = visit.binding_secret  # a new one sets its cookie
    query = urlencode({**(asked if visit.is_post else visit.query), PARAMETER: _ASKED}, errors="replace")
    return plain_responses.redirect_to(f"{path}?{query}", 303 if visit.is_post else 302)
