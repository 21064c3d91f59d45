"""Claims that a request wants with a certain value, or one of several (OpenID Connect Core section 5.5.1)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

USERINFO, ID_TOKEN = "userinfo_values", "id_token_values"
"""Facts of codes and tokens: the wanted values by claim."""
_ANY: Final[dict[str, Any]] = {}


def matching(claims: Mapping[str, Any], wanted: object) -> dict[str, Any]:
    """Return the claims without those that have none of their wanted values.

    Args:
        wanted: the fact of a token; None if the request wanted no values.
    """
    limits = wanted if isinstance(wanted, Mapping) else _ANY
    return {name: value for name, value in claims.items() if name not in limits or is_among(value, limits[name])}


def is_among(value: Any, values: Iterable[Any]) -> bool:
    """Return whether the value is one of these JSON values; unlike in Python, `true` is not `1`."""
    text = json.dumps(value, sort_keys=True)
    return any(json.dumps(one, sort_keys=True) == text for one in values)
