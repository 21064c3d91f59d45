"""The session iframe of OpenID Connect Session Management 1.0 section 3.2: the only page that other sites may frame.

It shows nothing and has one script, which the content security policy names by its hash. It is served where the tenant
switched Session Management on.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import Final

from flask import Blueprint, Response, current_app
from werkzeug.exceptions import NotFound

from app.contract.sessions.pages.sign_out_pages import CHECK_SESSION_PATH
from app.hub.rendering.assets import Assets
from app.hub.web.visit import current_visit

views = Blueprint("check_session", __name__)

_DOCUMENT: Final = (
    '<!doctype html><html lang="en"><head><title>Session</title></head><body><script>{}</script></body></html>'
)
_MAX_AGE_SECONDS: Final = 300


@views.get(CHECK_SESSION_PATH)
def check_session() -> Response:
    """Return the document that answers the application's frame (Session Management 1.0 section 3.1)."""
    if not current_visit().tenant.has_session_management:
        raise NotFound
    assets: Assets = current_app.extensions["gatehouse.assets"]
    script = assets.script(("check-session",)).content
    digest = b64encode(hashlib.sha256(script).digest()).decode()
    response = Response(_DOCUMENT.format(script.decode()), content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; script-src 'sha256-{digest}'; frame-ancestors *; base-uri 'none'; form-action 'none'"
    )
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["Cache-Control"] = f"public, max-age={_MAX_AGE_SECONDS}"
    return response
