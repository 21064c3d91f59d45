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
        """Return the page of an exception; raises it where none of its classes has one."""
        for kind in type(problem).__mro__:
            if (page := self._pages.get(kind)) is not None:
                return page(problem)
        raise problem
