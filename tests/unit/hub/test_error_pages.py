"""The table of error pages: which page answers an exception."""

from __future__ import annotations

import pytest
from werkzeug.wrappers import Response

from app.hub.web.errors import ErrorPages


class Refused(Exception):
    """Has a page, which a test may break."""


@pytest.fixture
def pages() -> ErrorPages:
    made = ErrorPages()
    made.answers(LookupError)(lambda _: Response("nothing there"))
    made.answers(Exception)(lambda problem: Response(f"unexpected {type(problem).__name__}"))
    return made


def text(pages: ErrorPages, problem: Exception) -> str:
    return pages.page_of(problem).get_data(as_text=True)


def test_exception_gets_the_page_of_its_nearest_class(pages: ErrorPages) -> None:
    assert text(pages, KeyError()) == "nothing there"
    assert text(pages, OSError()) == "unexpected OSError"


@pytest.mark.parametrize(
    ("raised", "shown"),
    [(KeyError(), "nothing there"), (OSError(), "unexpected OSError"), (Refused(), "unexpected Refused")],
    ids=["with a page", "without one", "the same again"],
)
def test_page_that_breaks_is_replaced_by_that_of_its_error(pages: ErrorPages, raised: Exception, shown: str) -> None:
    @pages.answers(Refused)
    def broken(_: Refused) -> Response:
        raise raised

    assert text(pages, Refused()) == shown


def test_exception_is_raised_once_all_its_pages_broke(pages: ErrorPages) -> None:
    requested = []

    @pages.answers(Exception, LookupError)
    def broken(problem: Exception) -> Response:
        requested.append(type(problem))
        raise KeyError("within")

    with pytest.raises(KeyError, match="within"):
        pages.page_of(LookupError())
    assert requested == [LookupError]
