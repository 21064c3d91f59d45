"""Caches whose keys clients choose."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Text = TypeVar("Text", str, bytes)
Made = TypeVar("Made")


def bounded_cache(*, max_entries: int, length: int) -> Callable[[Callable[[Text], Made]], Callable[[Text], Made]]:
    """Keep the last `max_entries` results of a function of one text, except for texts that are longer than `length`.

    An entry holds its text: clients that send another text of 30 kB with each request would fill the memory.
    """

    def decorate(function: Callable[[Text], Made]) -> Callable[[Text], Made]:
        cached = lru_cache(maxsize=max_entries)(function)

        @wraps(function)
        def call(text: Text) -> Made:
            return cached(text) if len(text) <= length else function(text)

        return call

    return decorate
