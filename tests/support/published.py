"""The published OpenAPI document of the interface."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from app.contract.operations import load_catalogue, openapi_document

API_URL, TENANT_URL = "http://api.example.com", "http://{tenant}.example.com"


@cache
def published_interface() -> dict[str, Any]:
    """Return the document as clients read it. Do not change it: making it takes a second, so the tests share one."""
    load_catalogue()
    document: dict[str, Any] = json.loads(json.dumps(openapi_document(API_URL, TENANT_URL)))
    return document
