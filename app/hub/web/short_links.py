"""Maps mailed links such as `/r/TOKEN` to their page and token (decision 0179)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from app.contract.messages.short_link_paths import SHORT_PATHS

PARAMETER: Final = "vtoken"
_PAGES: Final = {short: page for page, short in SHORT_PATHS.items()}
GIVEN: Final = "gatehouse.short_link"
"""The key in the WSGI environment of the address that the browser sent."""


def page_and_token(path: str) -> tuple[str, str] | None:
    """Return the page and the token of a short link; None for other paths. The letter ignores case, the token keeps its own."""
    letter, _, token = path[1:].removesuffix("/").partition("/")
    page = _PAGES.get(f"/{letter.lower()}")
    return (page, token) if page and "/" not in token else None


def page_path(path: str) -> str:
    """Return the path of the page that answers, in lower case."""
    found = page_and_token(path)
    return found[0] if found else path.lower()


def link_url(page: str, token: str) -> str:
    """Return the short address of a link; without a token the page's own."""
    return f"{SHORT_PATHS[page]}/{quote(token, safe='', errors='replace')}" if token else page


def given_path(environ: Mapping[str, Any]) -> str:
    """Return the path of a short link as the browser sent it, with the token."""
    return quote(environ[GIVEN], safe="/", encoding="latin-1")


def is_short_link(environ: Mapping[str, Any]) -> bool:
    """Return whether the request's token is in its path."""
    return GIVEN in environ
