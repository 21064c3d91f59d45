"""The path of a request as the routes spell it.

Fixed segments ignore letter case; parameters keep theirs. A mailed link such as `/r/TOKEN` is answered by the page that its
letter names (decision 0179): the address becomes the page's own, with the token in `vtoken`. So both forms have the same
page, limits and rules, and links of older emails keep working.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode
from wsgiref.types import WSGIEnvironment

from app.hub.web.short_links import GIVEN, PARAMETER, page_and_token

_VARIABLE_SEGMENTS: Final = {"service": (3,), "callback": (), "static": None, "_gallery": None}
"""By first segment: the positions that hold names, which keep their letter case; None: all later segments do."""


def normalize_path(environ: WSGIEnvironment) -> None:
    """Rewrite the path, and the query of a short link."""
    path = environ.get("PATH_INFO", "")
    if (found := page_and_token(path)) is not None:
        page, token = found
        added = urlencode({PARAMETER: token}, encoding="latin-1") if token else ""
        environ["QUERY_STRING"] = "&".join(filter(None, (added, environ.get("QUERY_STRING", ""))))
        environ["PATH_INFO"], environ[GIVEN] = page, path
    elif path != path.lower():
        environ["PATH_INFO"] = lowercase_path(path)


def lowercase_path(path: str) -> str:
    """Return the path as the routes spell it."""
    segments = path.split("/")
    first = segments[1].lower() if len(segments) > 1 else ""
    variable = _VARIABLE_SEGMENTS.get(first, ())
    if variable is None:
        return "/".join(["", first, *segments[2:]])
    names = variable if len(segments) > 4 else ()  # `/service/oidc/authorize` names no application
    return "/".join(segment if at in names else segment.lower() for at, segment in enumerate(segments))
