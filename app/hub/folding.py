"""Fixed path segments ignore letter case; the names within an address keep theirs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_NAMED: Final = {"service": (3,), "callback": (), "static": None, "_gallery": None}
"""By first segment: which later segments are names; None: all of them."""


class LowercasePaths:
    """Lowers the fixed segments of each path before the application reads it."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path != path.lower():
            environ["PATH_INFO"] = lowercase_path(path)
        return self._app(environ, start_response)


def lowercase_path(path: str) -> str:
    """Return the path as the routes spell it."""
    segments = path.split("/")
    first = segments[1].lower() if len(segments) > 1 else ""
    kept = _NAMED.get(first, ())
    if kept is None:
        return "/".join(["", first, *segments[2:]])
    is_named = kept if len(segments) > 4 else ()  # `/service/oidc/authorize` names no application
    return "/".join(segment if place in is_named else segment.lower() for place, segment in enumerate(segments))
