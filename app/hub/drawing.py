"""Sets up a Flask application to draw pages: templates, languages, static files, form tokens, headers."""

from __future__ import annotations

import hashlib
import hmac

from flask import Flask
from jinja2 import StrictUndefined

from app.hub import assets, locale, safety
from app.hub.brand import MARK
from app.settings import ROOT


def derived_key(secret: bytes, purpose: str) -> bytes:
    """Return a key for one purpose only, so that no two uses of the secret can be played against one another."""
    return hmac.new(secret, f"gatehouse.hub.{purpose}".encode(), hashlib.sha256).digest()


def make_app(secret: bytes, *, development: bool = False) -> Flask:
    """Return a Flask application that can draw every page."""
    app = Flask("gatehouse.hub", template_folder=str(ROOT / "templates"), static_folder=None)
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.auto_reload = development
    app.jinja_env.globals["gate"] = MARK
    app.jinja_env.globals["section"] = ""
    locale.install(app)
    app.extensions["gatehouse.form_tokens"] = safety.FormTokens(derived_key(secret, "form tokens"))
    app.extensions["gatehouse.assets"] = files = assets.Assets(ROOT / "static", is_fresh=development)
    assets.install(app, files)
    app.after_request(safety.dress)
    return app
