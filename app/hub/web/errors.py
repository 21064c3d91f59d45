"""What the hub shows for an error: the entry of a form or page for its class, or an error page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from werkzeug.wrappers import Response

from app.kit.operations.errors import ApiError

ErrorPage = Callable[[Any], Response]
_Page = TypeVar("_Page", bound=ErrorPage)
_Shown = TypeVar("_Shown")


def shown_for(refusal: ApiError, table: Mapping[type[ApiError], _Shown]) -> _Shown | None:
    """Return the entry of the refusal's class, else of its nearest base class; None if there is none."""
    kinds = (kind for kind in type(refusal).__mro__ if issubclass(kind, ApiError))
    return next((table[kind] for kind in kinds if kind in table), None)


class ErrorPages:
    """The error pages by exception class; a class without an entry uses its nearest base class."""

    def __init__(self) -> None:
        self._pages: dict[type[Exception], ErrorPage] = {}

    def answers(self, *kinds: type[Exception]) -> Callable[[_Page], _Page]:
        """Register a function that returns the page for these exception classes (decorator)."""

        def declare(page: _Page) -> _Page:
            self._pages |= dict.fromkeys(kinds, page)
            return page

        return declare

    def page_of(self, problem: Exception) -> Response:
        """Return the page of an exception; if that raises, the page of the new exception. Each page is tried once. Raises the last
        exception if every page failed, or no class of it has a page.
        """
        tried: list[ErrorPage] = []
        while (page := self._first_page(problem, tried)) is not None:
            tried.append(page)
            try:
                return page(problem)
            except Exception as broken:  # noqa: BLE001 - it may call the identity service, which refuses or does not answer
                problem = broken
        raise problem

    def _first_page(self, problem: Exception, tried: list[ErrorPage]) -> ErrorPage | None:
        pages = (self._pages.get(kind) for kind in type(problem).__mro__)
        return next((page for page in pages if page is not None and page not in tried), None)
