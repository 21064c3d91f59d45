"""A bounded cache that several owners share without evicting one another's entries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic

from app.kit.caching.lru_cache import Key, Value


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
