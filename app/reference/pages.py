"""Serves the reference: pages rendered on request, and files compressed once."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from jinja2 import Environment, FileSystemLoader
from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from app.contract.published.openapi import openapi_document
from app.contract.tenants.branding import DEFAULT_LOGO_PATH
from app.reference.assets import assets, favicon
from app.reference.document_index import CREDENTIALS, Book, PublishedChapter, PublishedOperation, book
from app.reference.markdown import paragraphs
from app.reference.operation_document import for_renderer
from app.reference.sandbox import NO_TRIAL, Trial
from app.settings import Settings

_TEMPLATES: Final = Path(__file__).parent / "templates"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'{}; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_STRICT: Final = _POLICY.format("")
_RENDERED: Final = _POLICY.format(" 'unsafe-inline'")  # the renderer's elements have style attributes
_SHORT: Final = "public, max-age=300"
_FILES: Final = "/docs/assets/"
_FOREVER: Final = "public, max-age=31536000, immutable"


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
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD") or not (is_ours or (is_page and host == self._tenant_host)):
            return self._app(environ, start_response)
        if not path:
            return redirect("/docs")(environ, start_response)
        return self._ready().answer(path, Request(environ))(environ, start_response)

    def _ready(self) -> Pages:
        """Return the pages; the document is built for the first request."""
        with self._lock:
            if self._pages is None:
                document = openapi_document(self._settings.base_url, self._settings.hub_url("{tenant}"))
                self._pages = Pages(document, self._trial, self._tenant_url)
            return self._pages


class Pages:
    """The pages of one document; `tenant_url` is the address of the trial's tenant."""

    def __init__(self, document: dict[str, Any], trial: Trial, tenant_url: str = "") -> None:
        self._compressed_document = gzip.compress(_json(document), 9, mtime=0)
        self._book: Book = book(document)
        self._api = document["servers"][0]["url"]
        self._trial = trial
        self._tenant_url = tenant_url
        self._assets = assets()
        self._files = {f"{_FILES}{asset.name}": asset for asset in self._assets.values()}
        self._templates = Environment(
            loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
        )
        self._templates.globals.update(
            book=self._book,
            assets=self._assets,
            files=_FILES,
            credentials=CREDENTIALS,
            api=self._api,
            trial=trial,
            plain=paragraphs,
            gate=DEFAULT_LOGO_PATH,
            icon=favicon(),
        )
        self._drawn = lru_cache(maxsize=64)(self._draw)

    def answer(self, path: str, request: Request) -> Response:
        """Return the answer to a path below /docs, or of the whole document."""
        if path == "/openapi.json":
            response = _answer(request, self._compressed_document, "application/json", _SHORT)
            response.headers["Access-Control-Allow-Origin"] = "*"
            return response
        if path in self._files:
            asset = self._files[path]
            return _answer(request, asset.compressed, asset.media_type, _FOREVER)
        home = self._home(path)
        if home and urlsplit(home).netloc != request.host.lower():
            return redirect(home + path)
        drawn = self._drawn(path)
        if drawn is not None:
            content, kind, policy = drawn
            return _answer(request, content, kind, _SHORT, policy)
        place = self._book.places.get(path.rpartition("/")[2])
        if place is not None:  # at its operation's name alone, or in a chapter that it has left
            return redirect(f"/docs/{place[0].slug}/{place[1].name}")
        content, kind, policy = self._html("missing.html")
        return _answer(request, content, kind, _SHORT, policy, status=404)

    def _home(self, path: str) -> str:
        """Return the address of the host that has the page; "" if every page is on the API host."""
        if not self._tenant_url:
            return ""
        place = self._book.places.get(path.rpartition("/")[2].removesuffix(".json"))
        return self._tenant_url if place and place[1].is_at_tenant else self._api

    def _draw(self, path: str) -> tuple[bytes, str, str] | None:
        """Return the compressed content of a page or of an operation's document, its type and its policy."""
        _, _, *parts = path.split("/")
        if not parts:
            return self._html("index.html")
        if parts == ["introduction"]:
            return self._html("introduction.html", policy=_RENDERED)
        if parts == ["introduction.json"]:
            return gzip.compress(_json(self._introduction()), 9, mtime=0), "application/json", _STRICT
        chapter = self._book.chapters.get(parts[0])
        if chapter is None or len(parts) > 2:
            return None
        if len(parts) == 1:
            return self._html("chapter.html", chapter=chapter)
        name = parts[1].removesuffix(".json")
        entry = next((item for item in chapter.entries if item.name == name), None)
        if entry is None:
            return None
        if parts[1].endswith(".json"):
            part = for_renderer(chapter.document(), entry.path, entry.method.lower(), self._trial)
            return gzip.compress(_json(part), 9, mtime=0), "application/json", _STRICT
        return self._operation(chapter, entry)

    def _operation(self, chapter: PublishedChapter, entry: PublishedOperation) -> tuple[bytes, str, str]:
        position = chapter.entries.index(entry)
        return self._html(
            "operation.html",
            policy=_RENDERED,
            chapter=chapter,
            entry=entry,
            is_filled=any(scheme in self._trial.credentials for scheme in entry.schemes),
            previous=chapter.entries[position - 1] if position else None,
            following=chapter.entries[position + 1] if position + 1 < len(chapter.entries) else None,
            host=urlsplit(self._tenant_url if entry.is_at_tenant else self._api).netloc,
        )

    def _introduction(self) -> dict[str, Any]:
        info = {name: self._book.info[name] for name in ("title", "version", "description")}
        return {"openapi": "3.1.0", "info": info, "servers": [{"url": self._api}], "paths": {}, "tags": []}

    def _html(self, template: str, *, policy: str = _STRICT, **shown: Any) -> tuple[bytes, str, str]:
        text = self._templates.get_template(template).render(**shown)
        return gzip.compress(text.encode(), 9, mtime=0), "text/html", policy


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _answer(
    request: Request, content: bytes, media_type: str, cache: str, policy: str = _STRICT, *, status: int = 200
) -> Response:
    response = Response(status=status, mimetype=media_type)
    response.headers["Cache-Control"] = cache
    response.headers["Content-Security-Policy"] = policy
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.vary.add("Accept-Encoding")
    is_zipped = request.accept_encodings.quality("gzip") > 0
    response.set_etag(hashlib.sha256(content).hexdigest()[:16] + ("z" if is_zipped else ""))
    response.data = content if is_zipped else gzip.decompress(content)
    if is_zipped:
        response.headers["Content-Encoding"] = "gzip"
    return response.make_conditional(request)
