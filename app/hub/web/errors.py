"""Which page answers an exception: one table, by class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from werkzeug.wrappers import Response

ErrorPage = Callable[[Any], Response]
_Page = TypeVar("_Page", bound=ErrorPage)


class ErrorPages:
    """The pages of exceptions; a class has that of its nearest base class in the table."""

    def __init__(self) -> None:
        self._pages: dict[type[Exception], ErrorPage] = {}

    def answers(self, *kinds: type[Exception]) -> Callable[[_Page], _Page]:
        """Declare the function that returns the page of exceptions of these classes."""

        def declare(page: _Page) -> _Page:
            self._pages |= dict.fromkeys(kinds, page)
            return page

        return declare

    def page_of(self, problem: Exception) -> Response:
        """Return the page of an exception; if that breaks, the page of what it raised. Each page is asked once.

        Raises the last exception where all its pages broke, or none of its classes has one.
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
