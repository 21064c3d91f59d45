"""The pages of the reference, rendered on request."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader
from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from app.contract.tenants.branding import DEFAULT_LOGO_PATH
from app.reference.assets import assets, favicon
from app.reference.changelog import interface_changes
from app.reference.document_index import CREDENTIALS, Book, PublishedChapter, PublishedOperation, book
from app.reference.field_list import field_groups
from app.reference.first_requests import AFTER_SIGN_IN, FIRST_REQUESTS, Values, code_of, coloured
from app.reference.guides import AT as GUIDES_AT
from app.reference.guides import GuideLinks, Guides
from app.reference.markdown import plain, render, render_line
from app.reference.operation_document import for_renderer
from app.reference.responses import (
    FOREVER,
    NOT_STORED,
    RENDERED,
    SHORT,
    Payload,
    compressed,
    compressed_json,
    respond,
)
from app.reference.sandbox import NO_TRIAL, Trial
from app.reference.search import MAX_QUERY, search_index

_TEMPLATES: Final = Path(__file__).parent / "templates"
_FILES: Final = "/docs/assets/"
_SEARCH: Final = "/docs/search"
_FOUND: Final = 60
PLAIN_PAGES: Final = {"": "index", "introduction": "introduction", "errors": "errors", "changelog": "changelog"}
"""The templates of the pages that no operation, guide or first request has, by the rest of their path."""


class Pages:
    """The pages of one document.

    Args:
        tenant_url: the address of the trial's tenant; "" without a trial.
        hub_domain: replaces the demo's domain in guides; "" without a trial.
    """

    def __init__(
        self, document: dict[str, Any], trial: Trial = NO_TRIAL, tenant_url: str = "", hub_domain: str = ""
    ) -> None:
        self._document = compressed_json(document)
        self._book: Book = book(document)
        self._guides = Guides(self._book.by_code_span, hub_domain)
        self._search = search_index(document, self._book, self._guides.by_name.values())
        self._api = document["servers"][0]["url"]
        self._trial = trial
        self._tenant_url = tenant_url
        self._assets = assets()
        self._files = {f"{_FILES}{asset.name}": asset for asset in self._assets.values()}
        self._values = Values(trial, self._api, tenant_url or _tenant_url(document))
        self._templates = self._environment()
        self._drawn = lru_cache(maxsize=64)(self._draw)

    def answer(self, path: str, request: Request) -> Response:
        """Return the answer to a path below /docs, or of the whole document."""
        if path == "/openapi.json":
            response = respond(request, self._document)
            response.headers["Access-Control-Allow-Origin"] = "*"
            return response
        if path in self._files:
            asset = self._files[path]
            return respond(request, Payload(asset.compressed, asset.media_type), FOREVER)
        if path == _SEARCH:
            return respond(request, self._results(request.args.get("q", "")))
        home = self._home(path)
        if home and urlsplit(home).netloc != request.host.lower():
            return redirect(home + path)
        return self._page(path, request)

    def _page(self, path: str, request: Request) -> Response:
        code = code_of(request) if path == AFTER_SIGN_IN else ""
        if code:
            return respond(request, self._first_request(path, code=code), NOT_STORED)
        drawn = self._drawn(path)
        if drawn is not None:
            return respond(request, drawn, SHORT)
        address = self._book.addresses.get(path.rpartition("/")[2])
        if address is not None:  # at its operation's name alone, or in a chapter that it has left
            return redirect(address)
        return respond(request, self._html("missing.html"), SHORT, status=404)

    def _home(self, path: str) -> str:
        """Return the address of the host that has the page; "" if every page is on the API host."""
        if not self._tenant_url:
            return ""
        place = self._book.places.get(path.rpartition("/")[2].removesuffix(".json"))
        return self._tenant_url if place and place[1].is_at_tenant else self._api

    def _draw(self, path: str) -> Payload | None:
        """Return a page, an operation's document or a file beside the guides."""
        rest = path.removeprefix("/docs").strip("/")
        if rest in PLAIN_PAGES:
            return self._html(f"{PLAIN_PAGES[rest]}.html", page=rest)
        if path in FIRST_REQUESTS:
            return self._first_request(path)
        if path == GUIDES_AT or path.startswith(f"{GUIDES_AT}/"):
            return self._guide(path)
        slug, _, name = rest.partition("/")
        chapter = self._book.chapters.get(slug)
        if chapter is None:
            return None
        if not name:
            return self._html("chapter.html", chapter=chapter)
        entry = next((item for item in chapter.entries if item.name == name.removesuffix(".json")), None)
        if entry is None:
            return None
        if name.endswith(".json"):
            return compressed_json(self._for_renderer(chapter, entry))
        return self._operation(chapter, entry)

    def _operation(self, chapter: PublishedChapter, entry: PublishedOperation) -> Payload:
        position = chapter.entries.index(entry)
        document = self._for_renderer(chapter, entry)
        return self._html(
            "operation.html",
            policy=RENDERED,
            chapter=chapter,
            entry=entry,
            samples=document["paths"][entry.path][entry.method.lower()]["x-code-samples"][:1],
            field_groups=field_groups(document),
            is_filled=any(scheme in (*self._trial.credentials, *self._trial.issues) for scheme in entry.schemes),
            previous=chapter.entries[position - 1] if position else None,
            following=chapter.entries[position + 1] if position + 1 < len(chapter.entries) else None,
            host=urlsplit(self._tenant_url if entry.is_at_tenant else self._api).netloc,
        )

    def _for_renderer(self, chapter: PublishedChapter, entry: PublishedOperation) -> dict[str, Any]:
        return for_renderer(chapter.document(), entry.path, entry.method.lower(), self._trial)

    def _first_request(self, path: str, code: str = "") -> Payload:
        return self._html(f"{FIRST_REQUESTS[path].template}.html", first=FIRST_REQUESTS[path], code=code)

    def _guide(self, path: str) -> Payload | None:
        if path in self._guides.files:
            file, media_type = self._guides.files[path]
            return compressed(file.read_bytes(), media_type)
        guide = self._guides.by_name.get(path.removeprefix(GUIDES_AT).strip("/"))
        return self._html("guide.html", guide=guide, text=self._guides.drawn(guide)) if guide else None

    def _changes(self) -> str:
        paths = [operation.path.lower() for _, operation in self._book.places.values()]

        def is_published(name: str) -> bool:
            if name.startswith("/"):
                start = name.lower().rstrip("/")
                return any(path == start or path.startswith(f"{start}/") for path in paths)
            is_word = re.fullmatch("[a-z]+", name) is not None  # such as `scope`, which other lines have as well
            return not is_word and (name in self._search.field_names or name in self._book.errors.by_code)

        return render(
            interface_changes(self._guides.changelog(), is_published), GuideLinks(self._guides, "CHANGELOG.md")
        )

    def _results(self, query: str) -> Payload:
        return self._html("search.html", query=query[:MAX_QUERY], found=self._search.find(query, _FOUND))

    def _environment(self) -> Environment:
        templates = Environment(
            loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
        )
        links = GuideLinks(self._guides, "docs/README.md")
        templates.filters.update(
            markdown=lambda text: render(text, links),
            first_paragraph=lambda text: render_line(text.partition("\n\n")[0], links),
            plain=plain,
            coloured=coloured,
        )
        templates.globals.update(
            book=self._book,
            guides=self._guides,
            first_requests=FIRST_REQUESTS,
            assets=self._assets,
            files=_FILES,
            credentials=CREDENTIALS,
            api=self._api,
            values=self._values,
            trial=self._trial,
            changes=self._changes,
            gate=DEFAULT_LOGO_PATH,
            icon=favicon(),
        )
        return templates

    def _html(self, template: str, *, policy: str = Payload.policy, **shown: Any) -> Payload:
        return compressed(self._templates.get_template(template).render(**shown).encode(), policy=policy)


def _tenant_url(document: dict[str, Any]) -> str:
    """Return the address of the document's sample tenant."""
    servers = (
        server for item in document["paths"].values() for entry in item.values() for server in entry.get("servers", ())
    )
    server = next(servers)
    return str(server["url"]).format(**{name: variable["default"] for name, variable in server["variables"].items()})
