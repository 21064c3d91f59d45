"""Renders the reference: one page, rendered once per process and stored compressed, without external resources."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from jinja2 import Environment, FileSystemLoader
from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from app.contract.operations import openapi_document
from app.reference.reading import operations
from app.settings import Settings

_FOLDER = Path(__file__).parent / "templates"
_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class Reference:
    """Serves /docs, /docs.css and /openapi.json on the API host, redirects its root to /docs, and passes other requests on."""

    def __init__(self, app: WSGIApplication, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._files: dict[str, tuple[str, bytes]] = {}
        self._lock = threading.Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "").rstrip("/").lower()
        is_reference = path in ("", "/docs", "/docs.css", "/openapi.json") and environ["REQUEST_METHOD"] in (
            "GET",
            "HEAD",
        )
        if not is_reference or environ.get("HTTP_HOST", "").lower() != self._settings.api_hostname:
            return self._app(environ, start_response)
        if not path:
            return redirect("/docs")(environ, start_response)
        return self._response(path, Request(environ))(environ, start_response)

    def _response(self, path: str, request: Request) -> Response:
        with self._lock:
            if not self._files:
                self._files = self._render()
        media_type, content = self._files[path]
        response = Response(mimetype=media_type)
        response.headers["Cache-Control"] = "public, max-age=300"
        response.headers["Content-Security-Policy"] = _POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.vary.add("Accept-Encoding")
        is_zipped = request.accept_encodings.quality("gzip") > 0
        response.set_etag(hashlib.sha256(content).hexdigest()[:16] + ("z" if is_zipped else ""))
        response.data = content if is_zipped else gzip.decompress(content)
        if is_zipped:
            response.headers["Content-Encoding"] = "gzip"
        if path == "/openapi.json":
            response.headers["Access-Control-Allow-Origin"] = "*"
        return response.make_conditional(request)

    def _render(self) -> dict[str, tuple[str, bytes]]:
        document = openapi_document(self._settings.base_url, self._settings.hub_url("{tenant}"))
        parts = {
            "/openapi.json": ("application/json", json.dumps(document, ensure_ascii=False, separators=(",", ":"))),
            "/docs": ("text/html", page(document)),
            "/docs.css": ("text/css", (_FOLDER / "docs.css").read_text(encoding="utf-8")),
        }
        return {path: (kind, gzip.compress(text.encode(), 9, mtime=0)) for path, (kind, text) in parts.items()}


def page(document: dict[str, Any]) -> str:
    """Return the reference as HTML."""
    environment = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("reference.html").render(
        info=document["info"], url=document["servers"][0]["url"], areas=operations(document)
    )
