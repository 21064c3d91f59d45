"""Which pages may lead to a password hash, and whose turn they wait for (decisions/0152)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final

from flask import Flask, request
from werkzeug.exceptions import ServiceUnavailable, TooManyRequests

from app.hub.arrival import Workings
from app.hub.pages import not_me
from app.kit.admission import SHED, Place, Shed
from app.kit.operation import Hashing

SECRETS: Final = Hashing("sign-in", ("password", "pin", "answer"))
"""A form without any of these in the names of its fields leads to no hash ..."""
_WITHOUT_SECRET: Final = frozenset({not_me.ADDRESS})
"""... but for these, which make a new password."""
_BULK: Final = frozenset({"/register"})


def place_of(app: Flask, environ: Mapping[str, Any]) -> Place | None:
    """Return where a request for a page waits; None for one that leads to no hash. Asks nobody."""
    path, stream = environ["PATH_INFO"].lower(), environ["wsgi.input"]
    body = stream.getvalue() if isinstance(stream, io.BytesIO) else b""
    if path not in _WITHOUT_SECRET and not SECRETS.may(environ["QUERY_STRING"], body):
        return None
    shared: Workings = app.extensions["gatehouse"]
    tenant = shared.tenancy.known(environ.get("HTTP_HOST", "").lower())
    return Place(tenant, "bulk" if path in _BULK else SECRETS.work)


def refuse_shed() -> None:
    """Refuse a request that found no place in the queue of hashes."""
    shed: Shed | None = request.environ.get(SHED)
    if shed is not None:
        kind = TooManyRequests if shed.unavailable_status == TooManyRequests.code else ServiceUnavailable
        raise kind(retry_after=shed.retry_after_seconds)
