"""One folder per journey, one module per page: its form, what its template sees with samples, and its views."""

from flask import Blueprint

first_page = Blueprint("first_page", __name__)
"""The sign-in page, which is there before all others (decision 0366)."""
pages = Blueprint("pages", __name__)
