"""The pages: one folder per journey, one module per page with its form, its template context with samples, and its views."""

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Blueprint

from app.hub.account_pages import LANDINGS, Landing

View = TypeVar("View", bound=Callable[..., Any])

pages = Blueprint("pages", __name__)


def account_page(address: str, *, landing: str = "", parameter: str = "", field: str = "") -> Callable[[View], View]:
    """Declare the view that shows a page of the signed-in account (decorator).

    Args:
        landing: the account page to continue at after a sign-in, if not this one.
        parameter: of the address: what the page shows.
        field: the field of the page's form with the same value, if it has another name.
    """
    LANDINGS[address] = Landing(landing or address, parameter, field or parameter)
    return pages.get(address)
