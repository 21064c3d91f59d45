"""What a form, a page or a link shows for each error that an operation may refuse with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from app.kit.operations.errors import ApiError

_Shown = TypeVar("_Shown")


def shown_for(refusal: ApiError, table: Mapping[type[ApiError], _Shown]) -> _Shown | None:
    """Return the entry of the refusal's class, else of its nearest base class; None if there is none."""
    kinds = (kind for kind in type(refusal).__mro__ if issubclass(kind, ApiError))
    return next((table[kind] for kind in kinds if kind in table), None)
