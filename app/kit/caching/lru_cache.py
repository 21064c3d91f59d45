"""Bounded, thread-safe caches."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class _Making:
    """A value that a thread makes; others of the same key wait for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    threads: int = 0


class SharedCache(Generic[Key, Value]):
    """The most recently used entries of each owner, up to `max_entries` of all. Thread-safe.

    A full cache drops the least recently used entry of the owner that has the most, which an owner with many keys is itself. Among
    owners with as many, it is the one that used none for the longest time.
    """

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._owned: OrderedDict[str, OrderedDict[Key, Value]] = OrderedDict()
        self._making: dict[tuple[str, Key], _Making] = {}
        self._size = 0
        self._lock = threading.Lock()

    def get_or_make(self, owner: str, key: Key, make: Callable[[], Value]) -> Value:
        """Return the entry of a key; make it if there is none, once for all threads. Other keys do not wait for it.

        What `make` raises passes on, and the next caller makes the value again.
        """
        with self._lock:
            found = self._find(owner, key)
            if found is not None:
                return found
            making = self._making.setdefault((owner, key), _Making())
            making.threads += 1
        try:
            with making.lock:
                return self._made(owner, key, make)
        finally:
            with self._lock:
                making.threads -= 1
                if not making.threads:
                    self._making.pop((owner, key), None)

    def keys(self, owner: str) -> list[Key]:
        """Return the keys of an owner's entries, the least recently used first."""
        with self._lock:
            return list(self._owned.get(owner, ()))

    def items(self) -> list[tuple[Key, Value]]:
        """Return the entries of all owners."""
        with self._lock:
            return [item for entries in self._owned.values() for item in entries.items()]

    def values(self) -> list[Value]:
        """Return the values of all owners."""
        return [value for _, value in self.items()]

    def clear(self) -> None:
        with self._lock:
            self._owned.clear()
            self._size = 0

    def _made(self, owner: str, key: Key, make: Callable[[], Value]) -> Value:
        """Return what another thread has made meanwhile, or make it."""
        with self._lock:
            found = self._find(owner, key)
        if found is None:
            found = make()
            with self._lock:
                self._put(owner, key, found)
        return found

    def _find(self, owner: str, key: Key) -> Value | None:
        entries = self._owned.get(owner)
        found = entries.get(key) if entries is not None else None
        if entries is not None and found is not None:
            entries.move_to_end(key)
            self._owned.move_to_end(owner)
        return found

    def _put(self, owner: str, key: Key, value: Value) -> None:
        self._owned.setdefault(owner, OrderedDict())[key] = value
        self._owned.move_to_end(owner)
        self._size += 1
        while self._size > self._max_entries:
            most = max(self._owned, key=lambda name: len(self._owned[name]))  # the first of several
            self._owned[most].popitem(last=False)
            self._size -= 1
            if not self._owned[most]:
                del self._owned[most]


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
