"""The API reference on the API host: /openapi.json, and /docs with a page per chapter and per operation.

A page is HTML of the server's. On the page of an operation, openapi-explorer draws fields, answers and "Try it" from the part of
the document that describes the operation.
"""

from app.reference.pages import Reference
from app.reference.sandbox import NO_TRIAL, Trial

__all__ = ["NO_TRIAL", "Reference", "Trial"]
