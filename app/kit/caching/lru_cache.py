"""Bounded, thread-safe caches."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """The most recently used entries, up to `max_entries`."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._entries: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            return found

    def peek(self, key: Key) -> Value | None:
        """Return an entry without marking it as used."""
        with self._lock:
            return self._entries.get(key)

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)

    def drop(self, key: Key) -> None:
        with self._lock:
            self._entries.pop(key, None)

    def values(self) -> list[Value]:
        """Return the cached values."""
        with self._lock:
            return list(self._entries.values())

    def items(self) -> list[tuple[Key, Value]]:
        """Return the entries, the least recently used first."""
        with self._lock:
            return list(self._entries.items())

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


_OVERHEAD_BYTES: Final = 500
"""Of an entry, beside the content."""


@dataclass(frozen=True, slots=True)
class CachedFile:
    media_type: str
    content: bytes


class ByteCache:
    """The most recently used files, up to `max_bytes` together. Thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size_bytes = 0
        self._files: OrderedDict[Hashable, CachedFile] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size_bytes(self) -> int:
        """The size of the files in it, each with an overhead."""
        return self._size_bytes

    def get(self, key: Hashable) -> CachedFile | None:
        with self._lock:
            file = self._files.get(key)
            if file is not None:
                self._files.move_to_end(key)
            return file

    def put(self, key: Hashable, file: CachedFile) -> None:
        with self._lock:
            self._drop(self._files.pop(key, None))
            self._files[key] = file
            self._size_bytes += len(file.content) + _OVERHEAD_BYTES
            while self._size_bytes > self._max_bytes:
                self._drop(self._files.popitem(last=False)[1])

    def _drop(self, file: CachedFile | None) -> None:
        if file is not None:
            self._size_bytes -= len(file.content) + _OVERHEAD_BYTES
