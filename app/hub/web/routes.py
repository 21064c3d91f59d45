"""Finds the view of a request in Flask's `url_map`: an address without path parameters by one dictionary look-up, any other by werkzeug."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any
from wsgiref.types import WSGIEnvironment

from flask import Blueprint, Flask
from werkzeug.wrappers import Response

View = Callable[[], Any]
"""A view with its arguments bound; returns the response."""


class Routes:
    """The addresses of an application."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._by_address: dict[tuple[str, str], tuple[str, Mapping[str, Any]]] = {}
        """By method and path of an address without path parameters: the endpoint and the view's arguments."""

    def add(self, views: Iterable[Blueprint]) -> None:
        """Add views with their addresses."""
        for item in views:
            self._app.register_blueprint(item)
        for rule in self._app.url_map.iter_rules():
            if "<" not in rule.rule:
                view = rule.endpoint, dict(rule.defaults or {})
                for method in (rule.methods or set()) - {"OPTIONS"}:
                    self._by_address.setdefault((method, rule.rule), view)

    def find(self, environ: WSGIEnvironment) -> View:
        """Return the view of a request.

        Raises:
            NotFound: no view has the address.
            MethodNotAllowed: no view has it for this method.
            RequestRedirect: the address is to be spelled otherwise.
        """
        found = self._by_address.get((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        return self._matched(environ) if found is None else self._view(*found)

    def _matched(self, environ: WSGIEnvironment) -> View:
        adapter = self._app.url_map.bind_to_environ(environ)
        rule, values = adapter.match(return_rule=True)
        if environ["REQUEST_METHOD"] == "OPTIONS" and getattr(rule, "provide_automatic_options", False):
            return partial(_options, adapter.allowed_methods())
        return self._view(rule.endpoint, values)

    def _view(self, name: str, values: Mapping[str, Any]) -> View:
        view = self._app.view_functions[name]
        return partial(view, **values) if values else view


def _options(methods: Iterable[str]) -> Response:
    """Return the methods of an address (RFC 9110 section 9.3.7)."""
    response = Response(mimetype="text/html")
    response.allow.update(methods)
    return response
