"""Builds the Flask application that renders pages: templates, languages, static files, form tokens, headers, paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask
from jinja2 import StrictUndefined
from werkzeug.routing import Rule

from app.contract.branding import DEFAULT_LOGO_PATH
from app.hub import assets, fragments, locale, safety
from app.hub.compiled_templates import CompiledTemplates
from app.hub.direct_pages import DirectPages
from app.hub.direct_posts import DirectPosts
from app.hub.direct_queries import DirectQueries
from app.hub.encryption import derive_key
from app.hub.short_links import ShortLinks
from app.hub.templating import PageEnvironment
from app.kit.package_files import STATIC, TEMPLATES

_VARIABLE_SEGMENTS: Final = {"service": (3,), "callback": (), "static": None, "_gallery": None}
"""By first segment: the positions that hold names, which keep their letter case; None: all later segments do."""


class HubRule(Rule):
    """A rule that compiles its address function when an address is first made: most of the 230 rules are never asked for one."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = cache(partial(super()._compile_builder, append_unknown))

        def build(rule: Rule, **values: Any) -> tuple[str, str]:
            return compiled()(rule, **values)

        return build


class HubApp(Flask):
    """A Flask application without asynchronous views."""

    url_rule_class = HubRule

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function; Flask would look at each view and hook, at each request, whether it is a coroutine."""
        return func


def make_flask_app(secrets: Sequence[bytes], *, development: bool = False) -> Flask:
    """Return a Flask application without routes that can render every page."""
    app = HubApp("gatehouse.hub", template_folder=str(TEMPLATES), static_folder=None)
    app.jinja_environment = PageEnvironment
    app.url_map.strict_slashes = False
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.auto_reload = development
    app.jinja_env.globals["gate"] = DEFAULT_LOGO_PATH
    app.jinja_env.globals["section"] = ""
    fragments.install(app)
    locale.install(app)
    if not development:
        app.jinja_env.bytecode_cache = CompiledTemplates(app.jinja_env)
    app.extensions["gatehouse.form_tokens"] = safety.FormTokens([derive_key(one, "hub form tokens") for one in secrets])
    app.extensions["gatehouse.assets"] = files = assets.Assets(STATIC, is_fresh=development)
    assets.install(app, files)
    direct = DirectQueries(app, DirectPages(app, DirectPosts(app)))
    app.wsgi_app = ShortLinks(LowercasePaths(safety.SecurityHeaders(direct)))  # type: ignore[method-assign]  # Flask's own way to add middleware
    return app


class LowercasePaths:
    """WSGI middleware that lowers the fixed segments of each path: they ignore letter case, names keep theirs."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path != path.lower():
            environ["PATH_INFO"] = lowercase_path(path)
        return self._app(environ, start_response)


def lowercase_path(path: str) -> str:
    """Return the path as the routes spell it."""
    segments = path.split("/")
    first = segments[1].lower() if len(segments) > 1 else ""
    variable = _VARIABLE_SEGMENTS.get(first, ())
    if variable is None:
        return "/".join(["", first, *segments[2:]])
    names = variable if len(segments) > 4 else ()  # `/service/oidc/authorize` names no application
    return "/".join(segment if at in names else segment.lower() for at, segment in enumerate(segments))
