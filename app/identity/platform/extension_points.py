"""Places where a package calls functions of the packages above it; `assembly/extension_points.py` connects them by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class ExtensionPoint(Generic[F]):
    """The functions that a package calls at one place, in their order; none until they are connected."""

    def __init__(self) -> None:
        self._functions: tuple[F, ...] = ()

    def connect(self, *functions: F) -> None:
        """Call these functions from now on, in place of those before."""
        self._functions = functions

    def __iter__(self) -> Iterator[F]:
        return iter(self._functions)
