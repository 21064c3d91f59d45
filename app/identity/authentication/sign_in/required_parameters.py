"""Parameters that an operation cannot do without."""

from __future__ import annotations

from app.contract import errors as e


def require_parameter(name: str, value: str | None) -> str:
    """Return a required parameter; raises BadParameter where it is absent or empty."""
    if not value:
        raise e.BadParameter.names(name)
    return value
