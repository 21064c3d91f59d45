"""Usual GETs of protocol endpoints, answered without Flask as `direct_posts` answers usual posts (decisions/0290, 0301).

An endpoint declares one function for its usual request: each parameter once, and none that belongs to pages. It returns the
step that comes next. A step that is an address and nothing else is answered without Flask's context and response. Whatever is
unusual raises `Unusual`, and Flask answers, with the operation's outcome handed over if it was called.

    @direct_query("/service/oidc/authorize")
    def authorize_directly(query: Query) -> Next: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, Response

from app.contract.hub import Next, Step
from app.hub import journey, plain_responses
from app.hub.direct import DirectRequest, Unusual, attempt, directly, read_parameters, visit_in_memory
from app.hub.frame import LANGUAGE_PARAMETER
from app.hub.locale import Language, use_language
from app.hub.services import Services, api_of
from app.hub.visit import Visit, set_current_visit
from app.kit.client import Client

_OF_PAGES: Final = frozenset({"attempt", LANGUAGE_PARAMETER, "language"})
"""Parameters that Flask's hooks read for any page."""
_ADDRESS_ALONE: Final = {"step", "address"}


@dataclass(frozen=True, slots=True)
class Query(DirectRequest):
    """A usual request: every reader finds the same parameters in it."""

    path: str
    parameters: Mapping[str, str]
    shared: Services
    visit: Visit
    language: Language

    def _api(self) -> Client:
        return api_of(self.shared, self.visit, self.language)

    def _visit(self) -> Visit:
        return self.visit


Answer = Callable[[Query], Next]
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

    @property
    def _shared(self) -> Services:
        shared: Services = self._flask.extensions["gatehouse"]
        return shared

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = DIRECT.get(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "GET" else None
        response = self.response(answer, environ) if answer is not None else None
        if response is None:
            return self._app(environ, start_response)
        if isinstance(response, str):
            return plain_responses.found(response, start_response)
        return plain_responses.send(response, environ, start_response)

    def response(self, answer: Answer, environ: WSGIEnvironment) -> Response | str | None:
        """Return the response, or the address of a plain redirect; None if Flask is to answer."""
        query = attempt(lambda: self._read(environ))
        step = attempt(lambda: answer(query)) if query is not None else None
        if query is None or step is None:
            return None
        if self._is_address_alone(step):
            return step.address
        return directly(self._flask, lambda _: _follow(query, step))

    def _read(self, environ: WSGIEnvironment) -> Query:
        """Return the request. Raises Unusual for a parameter of pages, and as `read_parameters` and `visit_in_memory`."""
        parameters = read_parameters(environ)
        if not _OF_PAGES.isdisjoint(parameters):
            raise Unusual
        shared = self._shared
        visit = visit_in_memory(shared, environ)
        language = visit.language_for(visit.accept_language)
        return Query(environ, environ["PATH_INFO"], parameters, shared, visit, language)

    def _is_address_alone(self, step: Next) -> bool:
        """Return whether the response has no cookie and no cost: the step says nothing but an address."""
        is_alone = step.step is Step.REDIRECT and step.model_fields_set == _ADDRESS_ALONE
        return is_alone and not self._shared.settings.shows_cost and plain_responses.is_plain(step.address or "")


def _follow(query: Query, step: Next) -> Response:
    set_current_visit(query.visit)
    use_language(query.language)
    return journey.follow(step)
