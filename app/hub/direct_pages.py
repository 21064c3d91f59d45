"""Usual GETs of pages, answered by their view without Flask (decisions/0296).

The view of a page reads its visit, never Flask's request: so the same function answers here and in Flask. Whatever is unusual
is Flask's, and an error too, which it shows; it gets the outcomes of the calls that were made, so that none is made twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, Response

from app.hub import lifecycle, plain_responses
from app.hub.direct import directly, read_parameters, visit_in_memory
from app.hub.services import HANDED_OVER, Services
from app.hub.visit import Visit, requested_interaction_id, set_current_visit

View = Callable[[], Response]
VIEWS: Final[dict[str, View]] = {}
"""By path; `pages.get` adds each page's."""


class DirectPages:
    """WSGI middleware that answers usual GETs of pages. Anything else is the application's."""

    def __init__(self, flask: Flask, app: WSGIApplication) -> None:
        self._flask = flask
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        view = VIEWS.get(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "GET" else None
        response = self.response(view, environ) if view is not None else None
        if response is None:
            return self._app(environ, start_response)
        return plain_responses.send(response, environ, start_response)

    def response(self, view: View, environ: WSGIEnvironment) -> Response | None:
        """Return the response; None if Flask is to answer."""

        def answer(shared: Services) -> Response:
            environ[HANDED_OVER] = []
            _begin_visit(shared, environ)
            return view()

        return directly(self._flask, answer)


def _begin_visit(shared: Services, environ: WSGIEnvironment) -> Visit:
    """Set up the visit as the hook of Flask does. Raises Unusual."""
    visit = visit_in_memory(shared, environ)
    read_parameters(environ)  # it refuses what Flask is to answer
    visit.is_direct = True
    set_current_visit(visit)
    if visit.query:
        lifecycle.choose_language_of_query(visit)
        if interaction_id := requested_interaction_id():
            visit.interaction = shared.interactions.read(visit.cookies, visit.tenant.name, interaction_id)
            if lifecycle.needs_reopening(visit):
                lifecycle.reopen(visit, interaction_id)
    visit.choose_language()
    return visit
