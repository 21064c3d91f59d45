"""One module per page: its form, what its template sees with samples, and its views."""

from flask import Blueprint

pages = Blueprint("pages", __name__)
