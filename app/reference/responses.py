"""What the reference answers with: compressed content, its caching and its Content-Security-Policy."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from werkzeug.wrappers import Request, Response

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'{}; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
STRICT: Final = _POLICY.format("")
RENDERED: Final = _POLICY.format(" 'unsafe-inline'")  # the renderer's elements have style attributes
SHORT: Final = "public, max-age=300"
FOREVER: Final = "public, max-age=31536000, immutable"
NOT_STORED: Final = "no-store"


@dataclass(frozen=True)
class Payload:
    """Payload, compressed with gzip, its media type and its policy."""

    compressed: bytes
    media_type: str = "text/html"
    policy: str = STRICT


def compressed(content: bytes, media_type: str = "text/html", policy: str = STRICT) -> Payload:
    """Return content, compressed."""
    return Payload(gzip.compress(content, 9, mtime=0), media_type, policy)


def compressed_json(document: dict[str, Any]) -> Payload:
    """Return a document as compact JSON, compressed."""
    return compressed(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(), "application/json")


def respond(request: Request, content: Payload, cache: str = SHORT, *, status: int = 200) -> Response:
    """Return the response with this content, or 304 if the caller has it."""
    response = Response(status=status, mimetype=content.media_type)
    response.headers["Cache-Control"] = cache
    response.headers["Content-Security-Policy"] = content.policy
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.vary.add("Accept-Encoding")
    is_zipped = request.accept_encodings.quality("gzip") > 0
    response.set_etag(hashlib.sha256(content.compressed).hexdigest()[:16] + ("z" if is_zipped else ""))
    response.data = content.compressed if is_zipped else gzip.decompress(content.compressed)
    if is_zipped:
        response.headers["Content-Encoding"] = "gzip"
    return response.make_conditional(request)
