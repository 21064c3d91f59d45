"""Finds the view of a request in Flask's `url_map`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from wsgiref.types import WSGIEnvironment

from flask import Flask
from werkzeug.wrappers import Response

View = Callable[[], Any]
"""A view with its arguments bound; returns the response."""


def find_view(app: Flask, environ: WSGIEnvironment) -> View:
    """Return the view of a request.

    Raises:
        NotFound: no view has the address.
        MethodNotAllowed: no view has it for this method.
        RequestRedirect: the address is to be spelled otherwise.
    """
    adapter = app.url_map.bind_to_environ(environ)
    rule, values = adapter.match(return_rule=True, websocket=False)
    if environ["REQUEST_METHOD"] == "OPTIONS" and getattr(rule, "provide_automatic_options", False):
        return partial(_options, adapter.allowed_methods())
    return partial(app.view_functions[rule.endpoint], **values)


def _options(methods: Iterable[str]) -> Response:
    """Return the methods of an address (RFC 9110 section 9.3.7)."""
    response = Response(mimetype="text/html")
    response.allow.update(methods)
    return response
