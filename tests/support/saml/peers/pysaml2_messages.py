"""What pysaml2 gives the browser: an address, or a page with a form."""

from __future__ import annotations

import re
from html import unescape
from typing import Any


def location(info: dict[str, Any]) -> str:
    return str(dict(info["headers"])["Location"])


def form_of(info: dict[str, Any]) -> dict[str, str]:
    """Return the fields of the form that pysaml2 writes as a page."""
    found = re.findall(r'name="(SAMLRequest|SAMLResponse|RelayState)" value="([^"]*)"', info["data"])
    return {name: unescape(value) for name, value in found}
