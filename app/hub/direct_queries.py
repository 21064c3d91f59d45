"""Usual GETs of protocol endpoints, answered without Flask as `direct_posts` answers usual posts (decisions/0290).

An endpoint declares one function for its usual request: each parameter once, and none that belongs to pages. Whatever is
unusual raises `Unusual`, and Flask answers, with the operation's outcome handed over if it was called.

    @direct_query("/service/oidc/authorize")
    def authorize_directly(query: Query) -> Response: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, Response

from app.hub import plain_responses
from app.hub.direct import DirectRequest, Unusual, directly, read_parameters, visit_in_memory
from app.hub.frame import LANGUAGE_PARAMETER
from app.hub.services import Services
from app.hub.visit import set_current_visit

_OF_PAGES: Final = frozenset({"attempt", LANGUAGE_PARAMETER, "language"})
"""Parameters that Flask's hooks read for any page."""


@dataclass(frozen=True, slots=True)
class Query(DirectRequest):
    """A usual request: every reader finds the same parameters in it."""

    path: str
    parameters: Mapping[str, str]


Answer = Callable[[Query], Response]
DIRECT: Final[dict[str, Answer]] = {}
"""By path."""


def direct_query(*paths: str) -> Callable[[Answer], Answer]:
    """Declare the function that answers usual GETs of these paths."""

    def declare(answer: Answer) -> Answer:
        DIRECT.update(dict.fromkeys(paths, answer))
        return answer

    return declare


class DirectQueries:
    """WSGI middleware that answers usual GETs. Anything else is the application's."""

    def __init__(self, flask: Flask, app: WSGIApplication) -> None:
        self._flask = flask
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = DIRECT.get(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "GET" else None
        response = self.response(answer, environ) if answer is not None else None
        if response is None:
            return self._app(environ, start_response)
        return plain_responses.send(response, environ, start_response)

    def response(self, answer: Answer, environ: WSGIEnvironment) -> Response | None:
        """Return the response; None if Flask is to answer."""

        def answered(shared: Services) -> Response:
            query = _read_query(environ)
            set_current_visit(visit_in_memory(shared, environ)).choose_language()
            return answer(query)

        return directly(self._flask, answered)


def _read_query(environ: WSGIEnvironment) -> Query:
    """Return the request. Raises Unusual for a parameter of pages, and as `read_parameters`."""
    parameters = read_parameters(environ)
    if not _OF_PAGES.isdisjoint(parameters):
        raise Unusual
    return Query(environ, environ["PATH_INFO"], parameters)
