"""Redirects to the page that asks for the password again if the session's authentication is too old for a change."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import Response

from app.contract.accounts.pages.reauthentication import AccountView
from app.hub import journey


def require_confirmation(view: AccountView, landing: str) -> Response | None:
    """Redirect to the confirmation page if a password in the form does not suffice; return None if none is needed."""
    return redirect_to_confirmation(landing) if view.must_confirm else None


def redirect_to_confirmation(landing: str) -> Response:
    """Redirect to the confirmation page, which continues at `landing`; at once if the authentication is recent."""
    return journey.redirect_to(f"/confirm?{urlencode({'next': landing})}")
