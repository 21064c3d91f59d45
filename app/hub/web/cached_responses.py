"""The cache of rendered pages, with slots for values that are new in each response."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Final
from wsgiref.types import WSGIEnvironment

from flask import Response
from werkzeug.datastructures import Headers

from app.kit.caching.lru_cache import SharedCache
from app.kit.web.precompressed import PrecompressedText

GZIP: Final = "gzip"
_MAX_CACHED: Final = 512


class PageResponse(Response):
    """A page's response, whose headers are final: `get_wsgi_headers` returns them as they are."""

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:  # noqa: ARG002 - werkzeug's signature
        """Return the headers as they are; werkzeug would copy and complete them."""
        return self.headers


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A response of status 200 with slots."""

    text: PrecompressedText
    headers: tuple[tuple[str, str, bool], ...]
    """Name, value, and whether the value is a format string with the names of slots."""

    def response(self, values: Mapping[str, str], *, is_compressed: bool) -> Response:
        """Return the response with these values in its slots."""
        headers = [(name, value % values if has_slots else value) for name, value, has_slots in self.headers]
        if is_compressed:
            headers.append(("Content-Encoding", GZIP))
        return PageResponse(
            self.text.compressed(values) if is_compressed else self.text.with_values(values), 200, headers
        )


class ResponseCache(SharedCache[Hashable, CachedResponse]):
    """The responses that a process has in memory, each owned by a tenant."""

    def __init__(self) -> None:
        super().__init__(_MAX_CACHED)
