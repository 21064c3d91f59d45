"""Mailed links such as `/r/TOKEN`: answered by the page that their letter names (decisions/0179).

The address is rewritten to the page's own, with the token in `vtoken`, before the request is routed. So both forms have the
same page, limits and rules, and links of older emails keep working.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.contract.mailed_links import SHORT_PATHS

PARAMETER: Final = "vtoken"
_PAGES: Final = {short: page for page, short in SHORT_PATHS.items()}
_GIVEN: Final = "gatehouse.short_link"
"""The key in the WSGI environment of the address that the visitor sees."""


class ShortLinks:
    """WSGI middleware that rewrites short links."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if (found := page_and_token(path)) is not None:
            page, token = found
            added = urlencode({PARAMETER: token}, encoding="latin-1") if token else ""
            environ["PATH_INFO"] = page
            environ["QUERY_STRING"] = "&".join(filter(None, (added, environ.get("QUERY_STRING", ""))))
            environ[_GIVEN] = path
        return self._app(environ, start_response)


def page_and_token(path: str) -> tuple[str, str] | None:
    """Return the page and the token of a short link; None for other paths. The letter ignores case, the token keeps its own."""
    letter, _, token = path[1:].removesuffix("/").partition("/")
    page = _PAGES.get(f"/{letter.lower()}")
    return (page, token) if page and "/" not in token else None


def page_path(path: str) -> str:
    """Return the path of the page that answers, in lower case."""
    found = page_and_token(path)
    return found[0] if found else path.lower()


def link_address(page: str, token: str) -> str:
    """Return the short address of a link; without a token the page's own."""
    return f"{SHORT_PATHS[page]}/{quote(token, safe='', errors='replace')}" if token else page


def given_path(environ: Mapping[str, Any]) -> str:
    """Return the path of a short link as the visitor sees it, with the token."""
    return quote(environ[_GIVEN], safe="/", encoding="latin-1")


def is_short_link(environ: Mapping[str, Any]) -> bool:
    """Return whether the request's token is in its path."""
    return _GIVEN in environ
