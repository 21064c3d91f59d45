"""A fair queue: round-robin over owners, so that one owner's backlog delays only that owner."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sized
from typing import Generic, TypeVar

Item = TypeVar("Item")


def _any_owner(_owner: str) -> bool:
    return True


class FairQueue(Generic[Item]):
    """Items by owner, and within an owner by class: round-robin over the owners, then over the owner's classes.

    Within one class the first in is the first out. Not safe for threads: the caller holds a lock.
    """

    def __init__(self) -> None:
        self._owners: OrderedDict[str, OrderedDict[str, deque[Item]]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def size_of(self, owner: str) -> int:
        """Return how many items of one owner wait."""
        return sum(map(len, self._owners.get(owner, {}).values()))

    def push(self, owner: str, kind: str, item: Item) -> None:
        """Append an item to its owner's class."""
        self._owners.setdefault(owner, OrderedDict()).setdefault(kind, deque()).append(item)
        self._size += 1

    def pop(self, may_run: Callable[[str], bool] = _any_owner) -> Item | None:
        """Remove and return the next item of an owner that may run; None if there is none."""
        if not self._owners:
            return None
        owner = next((element for element in self._owners if may_run(element)), None)
        if owner is None:
            return None
        kinds = self._owners.pop(owner)
        kind, items = kinds.popitem(last=False)
        item = items.popleft()
        if items:
            kinds[kind] = items
        if kinds:
            self._owners[owner] = kinds
        self._size -= 1
        return item

    def discard(self, owner: str, kind: str, item: Item) -> None:
        """Remove an item that no longer waits; do nothing if it is absent."""
        kinds = self._owners.get(owner, OrderedDict())
        items = kinds.get(kind, deque())
        if item not in items:
            return
        items.remove(item)
        self._size -= 1
        if not items:
            del kinds[kind]
        if not kinds:
            del self._owners[owner]

    def own_ahead(self, owner: str, kind: str) -> int:
        """Return how many items of this owner would be served before a new one of this class."""
        kinds: Mapping[str, Sized] = self._owners.get(owner, {})
        same = len(kinds.get(kind, ()))
        return same + sum(min(len(items), same + 1) for other, items in kinds.items() if other != kind)

    def ahead(self, owner: str, kind: str) -> int:
        """Return how many items would be served before a new one: the owner's own, and as many rounds of the other owners'."""
        rounds = self.own_ahead(owner, kind) + 1
        return rounds - 1 + sum(min(self.size_of(other), rounds) for other in self._owners if other != owner)
