"""The API reference on the API host: /openapi.json, and below /docs pages for operations, errors, changes, guides and first requests.

A page is HTML of the server's. On the page of an operation, openapi-explorer draws fields, answers and "Try it" from the part of
the document that describes the operation.
"""

from app.reference.sandbox import NO_TRIAL, Trial
from app.reference.server import Reference

__all__ = ["NO_TRIAL", "Reference", "Trial"]
