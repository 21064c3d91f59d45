"""Items of a resource, and the base class of their stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Self

from app.identity.platform.context import Context
from app.identity.platform.encryption import Encryption
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.resources.resource import Resource
from app.kit.resources.resource_values import value_at

FILE, API = "file", "api"


@dataclass(frozen=True)
class Item:
    """One item, or a singleton, whose id is empty."""

    id: tuple[str, ...]
    content: dict[str, Any]  # without members at their defaults
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    origin: Mapping[str, Any] = field(default_factory=lambda: {"by": API})
    created_at: datetime | None = None
    modified_at: datetime | None = None

    @property
    def name(self) -> str:
        """Return the item's name in plans of `gatehouse apply`."""
        return " ".join(self.id)


@dataclass(frozen=True)
class StoreAccess:
    """The unit of work, encryption and time that a store uses, from a request or a command."""

    work: UnitOfWork
    encryption: Encryption
    now: datetime

    @classmethod
    def of(cls, context: Context) -> Self:
        """Return the store access of a request."""
        return cls(context.work, context.services.encryption, context.now)


class Store(ABC):
    """Stores the items of one resource, always of the unit of work's tenant.

    The look-ups here read all items, which is right for a store that keeps them in one row; a table has its own statements.
    """

    raises_version: ClassVar[bool] = False
    """Whether a write itself raises the tenant's version."""
    keeps_origin: ClassVar[bool] = False
    """Whether it stores the items' `origin`."""

    @abstractmethod
    def items(self, access: StoreAccess, resource: Resource, id_prefix: Sequence[str] = ()) -> list[Item]:
        """Return the items in a stable order; with `id_prefix` only those whose id begins with these parts."""

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:
        """Return an item, or None."""
        return next((item for item in self.items(access, resource) if item.id == item_id), None)

    def page(self, access: StoreAccess, resource: Resource, offset: int, limit: int) -> list[Item]:
        """Return up to `limit` items after the first `offset` ones, in the order of `items`."""
        return self.items(access, resource)[offset : offset + limit]

    def count(self, access: StoreAccess, resource: Resource) -> int:
        """Return the number of items."""
        return len(self.items(access, resource))

    def find_by_unique_key(self, access: StoreAccess, resource: Resource, item: Item) -> Item | None:
        """Return the stored item that has the same unique values: the same item, or another one."""
        wanted = unique_key(resource, item)
        items = self.items(access, resource)
        return next((other for other in items if unique_key(resource, other) == wanted), None)

    @abstractmethod
    def add(self, access: StoreAccess, resource: Resource, item: Item) -> None:
        """Add an item. Raises IntegrityError if its id or its unique key is taken."""

    @abstractmethod
    def change(self, access: StoreAccess, resource: Resource, item: Item) -> None:
        """Replace an existing item. Raises IntegrityError if its unique key is taken."""

    @abstractmethod
    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:
        """Remove an item."""


def unique_key(resource: Resource, item: Item) -> str | None:
    """Return the digest of an item's unique values, folded by the resource's rules; None without such values."""
    if not resource.unique:
        return None
    values = [str(value_at(item.content, resource.named(name).path, "")) for name in resource.unique]
    return randomness.digest("\x1f".join(map(resource.fold, values)))
