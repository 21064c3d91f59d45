"""Sets up a Flask application to draw pages: templates, languages, static files, form tokens, headers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flask import Flask
from jinja2 import StrictUndefined

from app.hub import assets, locale, safety
from app.hub.brand import MARK
from app.hub.keys import derive_key
from app.settings import ROOT

MOST_FORM_BYTES: Final = 64_000


def make_app(secrets: Sequence[bytes], *, development: bool = False) -> Flask:
    """Return a Flask application that can draw every page."""
    app = Flask("gatehouse.hub", template_folder=str(ROOT / "templates"), static_folder=None)
    app.config.update(MAX_CONTENT_LENGTH=MOST_FORM_BYTES, MAX_FORM_MEMORY_SIZE=MOST_FORM_BYTES, MAX_FORM_PARTS=200)
    app.url_map.strict_slashes = False
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.auto_reload = development
    app.jinja_env.globals["gate"] = MARK
    app.jinja_env.globals["section"] = ""
    locale.install(app)
    app.extensions["gatehouse.form_tokens"] = safety.FormTokens([derive_key(one, "hub form tokens") for one in secrets])
    app.extensions["gatehouse.assets"] = files = assets.Assets(ROOT / "static", is_fresh=development)
    assets.install(app, files)
    app.after_request(safety.add_security_headers)
    return app
