"""Which requests of the hub may compute a password hash, and the queue in which each waits (decisions/0152)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final

from flask import Flask, request
from werkzeug.exceptions import ServiceUnavailable, TooManyRequests

from app.hub.pages import security_alert
from app.hub.services import Services
from app.kit.admission import SHED, QueueSlot, Shed
from app.kit.operation import Hashing

SECRETS: Final = Hashing("sign-in", ("password", "pin", "answer"))
"""A form without any of these in its field names computes no hash ..."""
_WITHOUT_SECRET: Final = frozenset({security_alert.ADDRESS})
"""... except these, which generate a new password."""
_BULK: Final = frozenset({"/register"})


def queue_slot(app: Flask, environ: Mapping[str, Any]) -> QueueSlot | None:
    """Return the queue slot of a page's request; None if it computes no hash. Makes no API call."""
    path, stream = environ["PATH_INFO"].lower(), environ["wsgi.input"]
    body = stream.getvalue() if isinstance(stream, io.BytesIO) else b""
    if path not in _WITHOUT_SECRET and not SECRETS.may_hash(environ["QUERY_STRING"], body):
        return None
    services: Services = app.extensions["gatehouse"]
    tenant = services.tenancy.cached_name(environ.get("HTTP_HOST", "").lower())
    return QueueSlot(tenant, "bulk" if path in _BULK else SECRETS.work)


def refuse_shed() -> None:
    """Refuse a request that the hash queue shed. Raises TooManyRequests or ServiceUnavailable."""
    shed: Shed | None = request.environ.get(SHED)
    if shed is not None:
        error = TooManyRequests if shed.unavailable_status == TooManyRequests.code else ServiceUnavailable
        raise error(retry_after=shed.retry_after_seconds)
