"""Sends redirects of direct answers without werkzeug's second pass over headers and address, where that changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Response

_PLAIN: Final = re.compile(
    r"(?:https?://[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*(?::[1-9][0-9]{0,3})?)?/(?!/)[A-Za-z0-9/._~%-]*(?:\?[A-Za-z0-9._~%&=+-]+)?"
)
"""An address that is a URI as it stands: werkzeug would take it apart, encode each part, and join them to the same text."""
_REDIRECTS: Final = (302, 303)


def send(response: Response, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Send a response (PEP 3333)."""
    headers = response.headers
    is_plain = _PLAIN.fullmatch(headers.get("Location", "")) is not None and "Content-Length" in headers
    is_whole = response.is_sequence and environ["REQUEST_METHOD"] != "HEAD"
    if response.status_code not in _REDIRECTS or not is_plain or not is_whole:
        return response(environ, start_response)
    content = response.get_data()
    start_response(response.status, headers.to_wsgi_list())
    response.close()
    return [content]
