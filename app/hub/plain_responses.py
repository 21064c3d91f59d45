"""Makes and sends answers without werkzeug's second pass over headers and address, where that changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Response
from werkzeug.utils import redirect

_PLAIN: Final = re.compile(
    r"(?:https?://[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*(?::[1-9][0-9]{0,3})?)?/(?!/)[A-Za-z0-9/._~%-]*(?:\?[A-Za-z0-9._~%&=+-]+)?"
)
"""An address that is a URI as it stands: werkzeug would take it apart, encode each part, and join them to the same text."""
HTML: Final = "text/html; charset=utf-8"
_STATUSES: Final = (200, 302, 303)
_ADDRESS: Final = "/address"


def is_plain(address: str) -> bool:
    """Return whether `found` may send a browser there."""
    return _PLAIN.fullmatch(address) is not None


def found(address: str, start_response: StartResponse) -> Iterable[bytes]:
    """Redirect to a plain address (PEP 3333), with the bytes of Flask's `redirect` and no cookie."""
    content = _content(address)
    headers = [("Content-Type", HTML), ("Content-Length", str(len(content))), ("Location", address)]
    start_response("302 FOUND", headers)
    return [content]


def redirect_to(address: str, status: int) -> Response:
    """Return Flask's redirect to any address."""
    if not is_plain(address):
        response: Response = redirect(address, status, Response)  # type: ignore[assignment]  # the kind that is given
        return response
    response = whole(_content(address), status)
    response.headers.add("Location", address)
    return response


def whole(content: bytes, status: int) -> Response:
    """Return a page as a response. werkzeug would look for its type, and for headers that it has not."""
    response = Response([content], status, content_type=HTML)
    response.headers.add("Content-Length", str(len(content)))
    return response


def _content(address: str) -> bytes:
    return _page().replace(_ADDRESS, address.replace("&", "&amp;")).encode()


@cache
def _page() -> str:
    return redirect(_ADDRESS).get_data(as_text=True)


def send(response: Response, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Send a response (PEP 3333)."""
    headers = response.headers.to_wsgi_list()
    if response.status_code not in _STATUSES or environ["REQUEST_METHOD"] == "HEAD" or not response.is_sequence:
        return response(environ, start_response)
    present = {name.lower(): value for name, value in headers}
    location = present.get("location")
    has_plain_address = location is None or is_plain(location)
    if not has_plain_address or "content-length" not in present or "content-location" in present:
        return response(environ, start_response)
    content = b"".join(response.iter_encoded())
    start_response(response.status, headers)
    response.close()
    return [content]
