"""The hub of a process: the page of a sign-in and its files are answered before the other pages are loaded (decisions/0311)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Flask, Response

from app.contract.errors import UnknownTenant
from app.hub import flask_app, lifecycle, queue_slots
from app.hub.kept_pages import KeptPages
from app.hub.pages import login
from app.hub.parts.error_pages import unknown_tenant
from app.hub.services import Services
from app.kit.admission import QueueSlot
from app.kit.kept_answers import Ready

_LOGIN: Final = "/login"
_FILES: Final = "/static/"


class Front:
    """Answers first pages with an application of the sign-in page alone, anything else with the whole one."""

    def __init__(self, shared: Services) -> None:
        self.shared = shared
        self.is_whole = False
        """Whether every page is loaded."""
        self._app = _first_app(shared)
        self._loading = Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request (PEP 3333). What the first application does not expect, the whole one answers from the beginning."""
        if not self.is_whole:
            if self.is_first(environ):
                with suppress(Exception):  # the whole application logs it and shows it
                    return self._app(environ, start_response)
            self.load()
        return self._app(environ, start_response)

    @staticmethod
    def is_first(environ: Mapping[str, Any]) -> bool:
        """Return whether the first application answers the request: without a query, the sign-in page or one of its files."""
        path = environ["PATH_INFO"]
        is_ours = path == _LOGIN or path.startswith(_FILES)
        return is_ours and environ["REQUEST_METHOD"] == "GET" and not environ.get("QUERY_STRING")

    def load(self) -> None:
        """Load the whole application, unless it is loaded; wait if another thread does."""
        with self._loading:
            if not self.is_whole:
                from app.hub import whole  # noqa: PLC0415 - decisions/0311

                self._app = whole.make_app(self.shared)
                self.is_whole = True

    def ready(self, environ: Mapping[str, Any]) -> Ready | None:
        """Return the answer that is in memory, if there is one."""
        return KeptPages.of(self._app).ready(environ)

    def queue_slot(self, environ: Mapping[str, Any]) -> QueueSlot | None:
        """Return the queue slot of a request, or None if it hashes no password."""
        return queue_slots.queue_slot(self.shared, environ)


def _first_app(shared: Services) -> Flask:
    app = flask_app.make_flask_app(shared.settings.secrets, development=shared.settings.development)
    app.extensions["gatehouse"] = shared
    app.config["PROPAGATE_EXCEPTIONS"] = True
    lifecycle.install(app)
    app.add_url_rule(_LOGIN, view_func=login.show_login)
    app.register_error_handler(UnknownTenant, unknown_tenant)
    app.register_error_handler(Exception, _leave)
    KeptPages.install(app)
    return app


def _leave(problem: Exception) -> Response:
    """Leave every other error page to the whole application."""
    raise problem
