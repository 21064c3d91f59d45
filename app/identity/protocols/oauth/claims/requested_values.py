"""Compares claims with the values that a request requires (OpenID Connect Core section 5.5.1)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def matching(claims: Mapping[str, Any], requested: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the claims without those that have none of their requested values.

    Args:
        requested: the required values by claim; None if the request requires no values.
    """
    limits = requested or {}
    return {name: value for name, value in claims.items() if name not in limits or is_among(value, limits[name])}


def is_among(value: Any, values: Iterable[Any]) -> bool:
    """Return whether the value is one of these JSON values; unlike in Python, `true` is not `1`."""
    text = json.dumps(value, sort_keys=True)
    return any(json.dumps(item, sort_keys=True) == text for item in values)
