"""Normalizes the path of a request to the routes' spelling. Fixed segments ignore letter case; parameters keep theirs. A mailed
link such as `/r/TOKEN` is rewritten to the page for its letter, with the token in `vtoken` (decision 0179). So both forms have the
same page, limits and rules, and links in older emails keep working.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode
from wsgiref.types import WSGIEnvironment

from app.hub.web.short_links import GIVEN, PARAMETER, page_and_token

_VARIABLE_SEGMENTS: Final = {
    "service": (3,),
    "oauth": (3,),
    "callback": (),
    "static": None,
    "pictures": None,
    "_gallery": None,
    "theme-preview": None,
}
"""By first segment: the positions of path parameters, which keep their letter case; None: all later segments."""

_SAML: Final = "saml"
_CONSUMER: Final = "acs"


def normalize_path(environ: WSGIEnvironment) -> None:
    """Normalize the path in the environment, and rewrite a short link to its page."""
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
    if (
        first == _SAML and len(segments) > 3 and segments[2].lower() == "sp"
    ):  # `/saml/sp/KEY`, `/saml/sp/KEY/logout` and `/saml/sp/acs/KEY`
        names = (4,) if segments[3].lower() == _CONSUMER else (3,)
    return "/".join(segment if at in names else segment.lower() for at, segment in enumerate(segments))
