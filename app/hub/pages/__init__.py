"""One module per page: its form, what its template sees with samples, and its views."""

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Blueprint

from app.hub.direct_pages import VIEWS

_V = TypeVar("_V", bound=Callable[..., Any])


class _Pages(Blueprint):
    def get(self, rule: str, **options: Any) -> Callable[[_V], _V]:
        """Declare the view of a page, which reads `current_visit()` instead of Flask's request (decisions/0296)."""
        register = super().get(rule, **options)

        def declare(view: _V) -> _V:
            if "<" not in rule and not options:
                VIEWS[rule] = view
            return register(view)

        return declare


pages = _Pages("pages", __name__)
