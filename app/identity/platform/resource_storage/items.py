"""Items of a resource, and the protocol of their stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, Self

from app.identity.platform.context import Context
from app.identity.platform.encryption import Encryption
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.resources.resource import Resource

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


class Store(Protocol):
    """Stores the items of one resource, always of the unit of work's tenant."""

    @property
    def raises_version(self) -> bool:
        """Return whether a write itself raises the tenant's version."""

    @property
    def keeps_origin(self) -> bool:
        """Return whether it stores the items' `origin`."""

    def items(self, access: StoreAccess, resource: Resource, parents: Sequence[str] = ()) -> list[Item]:
        """Return the items in a stable order; with `parents` only those of these parents."""

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:
        """Return an item, or None."""

    def add(self, access: StoreAccess, resource: Resource, item: Item, unique_key: str | None) -> None:
        """Add an item. Raises IntegrityError if its id or its unique key is taken."""

    def change(self, access: StoreAccess, resource: Resource, item: Item, unique_key: str | None) -> None:
        """Replace an existing item. Raises IntegrityError if its unique key is taken."""

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:
        """Remove an item."""
