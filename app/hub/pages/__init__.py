"""The pages: one folder per journey, one module per page with its form, its template context with samples, and its views."""

from flask import Blueprint

first_page = Blueprint("first_page", __name__)
"""The blueprint of the login page, the only one registered at start (decision 0366)."""
pages = Blueprint("pages", __name__)
