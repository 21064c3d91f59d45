"""The table from exception classes to error pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from werkzeug.wrappers import Response

ErrorPage = Callable[[Any], Response]
_Page = TypeVar("_Page", bound=ErrorPage)


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
