"""The issuer that a machine token names before anyone has verified it."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from urllib.parse import urlsplit

from app.identity.platform.outbound.openid_metadata import PARSE_ERRORS

_HOST = re.compile(r"[a-z0-9.-]{1,253}(:[0-9]{1,5})?")


def claimed_host(token: str | None) -> str:
    """Return the host of the issuer that the unverified token names, with its port; empty if it names none."""
    try:
        part = (token or "").split(".")[1]
        host = urlsplit(str(json.loads(_decode(part))["iss"])).netloc.lower()
    except (IndexError, KeyError, *PARSE_ERRORS):
        return ""
    return host if _HOST.fullmatch(host) is not None else ""


def _decode(part: str) -> bytes:
    return urlsafe_b64decode(part.encode("ascii", "strict") + b"=" * (-len(part) % 4))
