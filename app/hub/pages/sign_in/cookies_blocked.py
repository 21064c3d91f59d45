"""The page to which a script leads at once where the browser blocks cookies; without scripts the first form says the same."""

from __future__ import annotations

from flask import Response

from app.hub.components.error_pages import CookiesBlockedPage
from app.hub.pages import pages
from app.hub.web.responses import redirect_to
from app.hub.web.visit import current_visit, interaction_url


@pages.get("/cookies-blocked")
def show_blocked() -> Response:
    """Render the page; a browser that has cookies by now goes to the sign-in."""
    if not current_visit().has_cookies:
        return CookiesBlockedPage().render(403)
    return redirect_to(interaction_url("/login") + "#cookies")  # the mark keeps the script from coming back
