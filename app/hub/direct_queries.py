"""Usual GETs of protocol endpoints, answered without Flask as `direct_posts` answers usual posts (decisions/0290).

An endpoint declares one function for its usual request: each parameter once, and none that belongs to pages. Whatever is
unusual raises `Unusual`, and Flask answers, with the operation's outcome handed over if it was called.

    @direct_query("/service/oidc/authorize")
    def authorize_directly(query: Query) -> Response: ...
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, Response
from pydantic import ValidationError

from app.hub import lifecycle
from app.hub.direct_posts import Unusual, call_or_hand_over, visit_in_memory
from app.hub.frame import LANGUAGE_PARAMETER
from app.hub.services import Services
from app.hub.visit import set_current_visit
from app.kit.admission import SHED
from app.kit.client import Req, Res
from app.kit.operation import Operation

log = logging.getLogger("gatehouse.hub")

_OF_PAGES: Final = frozenset({"attempt", LANGUAGE_PARAMETER, "language"})
"""Parameters that Flask's hooks read for any page."""


@dataclass(frozen=True, slots=True)
class Query:
    """A usual request: every reader finds the same parameters in it."""

    path: str
    parameters: Mapping[str, str]
    environ: WSGIEnvironment

    def call(self, operation: Operation[Req, Res], req: Req) -> Res:
        """Return the operation's response. Raises Unusual for an error and for a step without an address: the view shows these."""
        return call_or_hand_over(self.environ, operation, req)


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
        return (response or self._app)(environ, start_response)

    def response(self, answer: Answer, environ: WSGIEnvironment) -> Response | None:
        """Return the response; None if Flask is to answer."""
        shared: Services = self._flask.extensions["gatehouse"]
        with self._flask.app_context():
            try:
                query = _read_query(environ)
                set_current_visit(visit_in_memory(shared, environ)).choose_language()
                return lifecycle.finish_response(answer(query))
            except (Unusual, ValidationError):
                return None
            except Exception:  # its outcome is handed over, too
                log.exception("direct_query.broke")
                return None


def _read_query(environ: WSGIEnvironment) -> Query:
    """Return the request. Raises Unusual for a repeated parameter, for one of pages, for other than ASCII, and for a body."""
    text = environ["QUERY_STRING"]
    if SHED in environ or not text.isascii() or environ.get("CONTENT_LENGTH", "0") != "0":
        raise Unusual
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict")
    except ValueError:
        raise Unusual from None
    parameters = dict(pairs)
    if len(parameters) != len(pairs) or not _OF_PAGES.isdisjoint(parameters):
        raise Unusual
    return Query(environ["PATH_INFO"], parameters, environ)
