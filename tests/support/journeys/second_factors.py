"""A sign-in with a second factor on the pages: enrolment and codes."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pyotp

from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

APP_ALONE = {"email": False, "passkey": False}


def app_of(page: VisitedPage) -> pyotp.TOTP:
    """Return a TOTP generator for the key on the page."""
    return pyotp.TOTP(re.findall(r'<p class="key"[^>]*>([A-Z2-7 ]+)</p>', page.html)[0].replace(" ", ""))


def code_now(tenant: World, app: pyotp.TOTP) -> str:
    return str(app.at(tenant.services.clock.now()))


def sign_in(visitor: Visitor, tenant: World, ada: Person, **client: str) -> VisitedPage:
    shop = tenant.application(
        f"shop{len(visitor.language)}{tenant.services.clock.now():%H%M%S%f}", client_name="Acme Shop", **client
    )
    return visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)


def close_browser(visitor: Visitor) -> None:
    """Delete the session cookie, as closing the browser does."""
    visitor.client.delete_cookie("gatehouse-session", domain=urlsplit(visitor.home).hostname or "")


def enrol_totp(visitor: Visitor, tenant: World, ada: Person) -> tuple[pyotp.TOTP, VisitedPage]:
    page = sign_in(visitor, tenant, ada)
    app = app_of(page)
    return app, page.press("Verify", code=code_now(tenant, app))


def codes_on(page: VisitedPage) -> list[str]:
    """Return the backup codes that the page shows."""
    return re.findall(r"<code>([0-9a-f]{5}-[0-9a-f]{5})</code>", page.html)
