"""Assigns a hash queue slot to each hub request that computes a password hash or converts an image."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final

from app.contract.catalogue import HASHES_SECRETS
from app.contract.images.uploads import CONVERTS_IMAGE, FORM_ADDRESSES
from app.hub.pages.security import alert_link
from app.hub.web.services import HubServices
from app.hub.web.short_links import page_path
from app.kit.limits.queue_slot import QueueSlot

_GENERATES_PASSWORD: Final = frozenset({alert_link.PATH})
"""Forms that generate a new password; others hash if a secret is in their field names (decision 0152)."""
_BULK_PATHS: Final = frozenset({"/register"})


def queue_slot(shared: HubServices, environ: Mapping[str, Any]) -> QueueSlot | None:
    """Return the queue slot of a page's request; None if it does neither. Makes no API call."""
    if environ["REQUEST_METHOD"] == "GET":
        return None
    path, stream = page_path(environ["PATH_INFO"]), environ["wsgi.input"]
    body = stream.getvalue() if isinstance(stream, io.BytesIO) else b""
    if path in FORM_ADDRESSES:
        return QueueSlot(shared.tenancy.cached_name(environ.get("HTTP_HOST", "").lower()), CONVERTS_IMAGE.work)
    if path not in _GENERATES_PASSWORD and not HASHES_SECRETS.applies_to(environ["QUERY_STRING"], body):
        return None
    tenant = shared.tenancy.cached_name(environ.get("HTTP_HOST", "").lower())
    return QueueSlot(tenant, "bulk" if path in _BULK_PATHS else HASHES_SECRETS.work)
