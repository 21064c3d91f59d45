"""Sends direct answers without werkzeug's second pass over headers and address, where that changes nothing."""

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
_STATUSES: Final = (200, 302, 303)


def send(response: Response, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Send a response (PEP 3333)."""
    headers = response.headers.to_wsgi_list()
    if response.status_code not in _STATUSES or environ["REQUEST_METHOD"] == "HEAD" or not response.is_sequence:
        return response(environ, start_response)
    present = {name.lower(): value for name, value in headers}
    location = present.get("location")
    is_plain = location is None or _PLAIN.fullmatch(location) is not None
    if not is_plain or "content-length" not in present or "content-location" in present:
        return response(environ, start_response)
    content = b"".join(response.iter_encoded())
    start_response(response.status, headers)
    response.close()
    return [content]
