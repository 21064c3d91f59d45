"""The hub's Flask application, which dispatches requests without Flask's request context (decision 0366).

Each request passes: path normalization, visit, route, view; an exception gets its page; then cookies, security headers, response.

Views, forms and templates read the visit (`app.hub.web.visit`); only the application context exists. Flask's request hooks and
error handlers would not run, so `add_views` refuses them: a check in a hook would be skipped. Extensions that need only the
application context work (Flask-Babel, Flask-WTF).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Blueprint, Flask
from werkzeug.wrappers import Response

from app.hub.web import visit_opening
from app.hub.web.errors import ErrorPages
from app.hub.web.paths import normalize_path
from app.hub.web.responses import finish, send
from app.hub.web.routes import find_view
from app.hub.web.services import HubServices
from app.hub.web.visit import Visit, set_current_visit
from app.kit.package_files import TEMPLATES

_HOOKS: Final = (
    "before_request_funcs",
    "after_request_funcs",
    "teardown_request_funcs",
    "url_value_preprocessors",
    "url_default_functions",
    "error_handler_spec",
)


class HubFlask(Flask):
    """The application of the hub.

    Args:
        shared: the services of the process.
        error_pages: which page answers which exception.
    """

    def __init__(self, shared: HubServices, error_pages: ErrorPages) -> None:
        super().__init__("gatehouse.hub", template_folder=str(TEMPLATES), static_folder=None)
        self.url_map.strict_slashes = False
        self.extensions["gatehouse"] = self.shared = shared
        self.error_pages = error_pages

    def wsgi_app(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request (PEP 3333)."""
        normalize_path(environ)
        with self.app_context():
            visit = set_current_visit(visit_opening.open_visit(self.shared, environ))
            try:
                return send(finish(self._answer(visit), visit), environ, start_response)
            except Exception as problem:  # noqa: BLE001 - the table has a page for every exception
                return send(finish(self.error_pages.page_of(problem), visit), environ, start_response)

    def _answer(self, visit: Visit) -> Response:
        visit_opening.complete_visit(visit)
        response: Response = find_view(self, visit.environ)()
        return response

    def add_views(self, views: Iterable[Blueprint]) -> None:
        """Register blueprints. Raises RuntimeError for a Flask hook, which would not run."""
        for item in views:
            self.register_blueprint(item)
        if hooks := [name for name in _HOOKS if _is_set(getattr(self, name))]:
            raise RuntimeError(
                f"hooks of Flask that would not run, since there is no request context: {', '.join(hooks)}"
            )


def _is_set(hooks: Any) -> bool:
    """Return whether a (nested) table of hooks or error handlers is not empty."""
    return any(map(_is_set, hooks.values())) if isinstance(hooks, dict) else bool(hooks)
