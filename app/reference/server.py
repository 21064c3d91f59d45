"""Serves the reference in front of another application."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from app.contract.published.examples import load_examples
from app.contract.published.openapi import openapi_document
from app.reference.responses import NOT_STORED, compressed_json, respond
from app.reference.sandbox import NO_TRIAL, Trial
from app.settings import Settings

if TYPE_CHECKING:
    from app.reference.pages import Pages

_TOKENS: Final = "/docs/tokens/"


class Reference:
    """Serves /docs and /openapi.json on the API host, redirects its root to /docs, and passes other requests on.

    Args:
        trial: values for "Try it"; only the demo sets them, because every reader sees them.
    """

    def __init__(self, app: WSGIApplication, settings: Settings, trial: Trial = NO_TRIAL) -> None:
        self._app = app
        self._settings = settings
        self._trial = trial
        tenant_url = settings.hub_url(trial.tenant) if trial.tenant else ""
        self._tenant_url, self._tenant_host = tenant_url, urlsplit(tenant_url).netloc
        self._lock = threading.Lock()
        self._pages: Pages | None = None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "").rstrip("/").lower()
        is_page = path == "/docs" or path.startswith("/docs/")
        host = environ.get("HTTP_HOST", "").lower()
        is_ours = host == self._settings.api_hostname and (is_page or path in ("", "/openapi.json"))
        if not is_ours and not (is_page and host == self._tenant_host):
            return self._app(environ, start_response)
        if environ["REQUEST_METHOD"] == "POST" and path.startswith(_TOKENS) and self._trial.issues:
            return self._token(environ["PATH_INFO"].removeprefix(_TOKENS), Request(environ))(environ, start_response)
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return self._app(environ, start_response)
        if not path:
            return redirect("/docs")(environ, start_response)
        return self._ready().answer(path, Request(environ))(environ, start_response)

    def _token(self, scheme: str, request: Request) -> Response:
        """Return a token of the trial for one of its schemes, as JSON."""
        is_known = scheme in self._trial.issues
        api_url = self._settings.base_url
        token = self._trial.token(scheme, self._app, api_url, self._tenant_url) if is_known else ""
        return respond(request, compressed_json({"token": token}), NOT_STORED, status=200 if token else 404)

    def _ready(self) -> Pages:
        """Return the pages; the document is built for the first request."""
        with self._lock:
            if self._pages is None:
                from app.reference.pages import Pages  # noqa: PLC0415 - most processes draw no page, and need no Markdown

                hub_domain = self._settings.hub_domain if self._trial.tenant else ""
                examples = self._trial.filled(load_examples())
                document = openapi_document(self._settings.base_url, self._settings.hub_url("{tenant}"), examples)
                self._pages = Pages(document, self._trial, self._tenant_url, hub_domain)
            return self._pages
