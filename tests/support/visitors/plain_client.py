"""A client of WSGI applications that makes what plain requests consist of, and nothing else.

werkzeug's own client prepares, for each request, what files, redirects and incomplete addresses need. That takes four times as long,
and was a tenth of the time of all tests of the interface. Other requests are left to it; answers and cookies are its own, too.
"""

from __future__ import annotations

import json as json_format
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from io import BytesIO
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit
from wsgiref.types import WSGIEnvironment

from werkzeug.datastructures import Headers
from werkzeug.test import Client, EnvironBuilder, TestResponse, run_wsgi_app
from werkzeug.wrappers import Request

FORM = "application/x-www-form-urlencoded"
_PLAIN_ARGUMENTS = {"method", "base_url", "query_string", "headers", "json", "data", "environ_overrides"}
_PLAIN_PATH = re.compile(r"/(?!/)[\w.~%!$&'()*+,;=:@/-]*(\?[\w.~%!$&'()*+,;=:@/?-]*)?", re.ASCII)
_UNQUOTED = "!$'()*,/:;?@"
"""What werkzeug writes as it is in a query and a form (WHATWG URL, "percent-encoded bytes")."""


class PlainClient(Client):
    """Sends a request as `werkzeug.test.Client` does."""

    def open(self, path: Any, **how: Any) -> TestResponse:  # type: ignore[override]  # only the path without a name
        """Send it: `base_url`, and where needed `method`, `query_string`, `headers`, `json` or `data`, `environ_overrides`."""
        if not is_plain(path, how):
            return super().open(path, **how)
        environ = _environ(path, **how)
        sends = self.run_wsgi_app if self._cookies is not None else self._run
        content, status, sent = sends(environ)
        return TestResponse(content, status, sent, Request(environ))

    def _run(self, environ: WSGIEnvironment) -> tuple[Iterable[bytes], str, Headers]:
        return run_wsgi_app(self.application, environ)


def environ_of(path: str, **how: Any) -> WSGIEnvironment:
    """Return what an application gets to see of a request."""
    return _environ(path, **how) if is_plain(path, how) else EnvironBuilder(path, **how).get_environ()


def is_plain(path: Any, how: Mapping[str, Any]) -> bool:
    """Return whether `_environ` writes this request."""
    query, headers, data = how.get("query_string"), how.get("headers"), how.get("data")
    if not (
        how.keys() <= _PLAIN_ARGUMENTS and "base_url" in how and isinstance(path, str) and _PLAIN_PATH.fullmatch(path)
    ):
        return False
    if not (query is None or (isinstance(query, dict) and "?" not in path)) or not isinstance(
        headers, (dict, type(None))
    ):
        return False
    kind = next((value for name, value in (headers or {}).items() if name.lower() == "content-type"), "")
    if isinstance(data, dict):
        return not kind and all(isinstance(value, str) for value in data.values())
    return isinstance(data, (bytes, str, type(None))) and (kind != FORM or bool(data))  # an empty form has a length


def _environ(
    path: str,
    *,
    base_url: str,
    method: str = "GET",
    query_string: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    data: bytes | str | Mapping[str, str] | None = None,
    environ_overrides: Mapping[str, Any] | None = None,
) -> WSGIEnvironment:
    raw_path, _, query = path.partition("?")
    body, kind = _body(json, data)
    environ = {
        **_place(base_url),
        "REQUEST_METHOD": method,
        "PATH_INFO": unquote(raw_path).encode().decode("latin-1"),
        "QUERY_STRING": query if query_string is None else _encoded(query_string),
        "REQUEST_URI": path,
        "RAW_URI": path,
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
    }
    if kind:
        environ["CONTENT_TYPE"] = kind
    if body:
        environ["CONTENT_LENGTH"] = str(len(body))
    for name, value in (headers or {}).items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    return {**environ, **(environ_overrides or {})}


def _body(json: Any, data: bytes | str | Mapping[str, str] | None) -> tuple[bytes, str]:
    if json is not None:
        return json_format.dumps(json).encode(), "application/json"
    if isinstance(data, dict) and data:
        return _encoded(data).encode(), FORM
    return data.encode() if isinstance(data, str) else data if isinstance(data, bytes) else b"", ""


def _encoded(members: Mapping[str, Any]) -> str:
    each = ((name, member if isinstance(member, (list, tuple, set)) else (member,)) for name, member in members.items())
    return urlencode(
        [(name, element) for name, item in each for element in item if element is not None], safe=_UNQUOTED
    )


@cache
def _place(base_url: str) -> WSGIEnvironment:
    """Return the variables that all requests to a host share."""
    address = urlsplit(base_url)
    host, _, port = address.netloc.partition(":")
    return {
        "SCRIPT_NAME": address.path.rstrip("/"),
        "SERVER_NAME": host,
        "SERVER_PORT": port or {"http": "80", "https": "443"}[address.scheme],
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": address.netloc,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": address.scheme,
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
