"""Items of a resource, and what a store of them does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from app.identity.platform.encryption import Encryption
from app.identity.platform.store.unit import UnitOfWork
from app.kit.resource import Resource

FILE, API = "file", "api"


@dataclass(frozen=True)
class Item:
    """One item, or a singleton (whose id has no part)."""

    id: tuple[str, ...]
    content: dict[str, Any]  # as stated: nothing that stands at its default
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    origin: Mapping[str, Any] = field(default_factory=lambda: {"by": API})
    created_at: datetime | None = None
    modified_at: datetime | None = None

    @property
    def name(self) -> str:
        """What plans call it."""
        return " ".join(self.id)


@dataclass(frozen=True)
class StoreAccess:
    """What a store needs of a request, or of the command that applies a file."""

    work: UnitOfWork
    encryption: Encryption
    now: datetime


class Store(Protocol):
    """Items of one resource, always of the unit of work's tenant."""

    @property
    def raises_version(self) -> bool:
        """Whether a write raises the tenant's version by itself."""

    @property
    def keeps_origin(self) -> bool:
        """Whether it keeps the items' `origin`."""

    def items(self, access: StoreAccess, resource: Resource, parents: Sequence[str] = ()) -> list[Item]:
        """Return the items, in a steady order; of these parents alone."""

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:
        """Return an item."""

    def add(self, access: StoreAccess, resource: Resource, item: Item, unique_key: str | None) -> None:
        """Add an item. Raises IntegrityError if its id or its unique key is taken."""

    def change(self, access: StoreAccess, resource: Resource, item: Item, unique_key: str | None) -> None:
        """Replace an item that is there. Raises IntegrityError if its unique key is taken."""

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:
        """Remove an item."""
