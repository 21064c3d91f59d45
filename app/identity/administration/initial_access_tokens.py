"""Initial access tokens as a resource: the store of `protocols/oauth/registration`, which keeps digests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from app.contract import initial_access_tokens as contract
from app.identity.platform.resources.hooks import rules_of
from app.identity.platform.resources.items import Item, StoreAccess
from app.identity.protocols.oauth.registration import initial_access_tokens as store
from app.kit.clock import iso
from app.kit.resource import Resource

rules = rules_of(contract.TOKENS)
_KEPT = "kept"
"""The value that represents a stored token, of which only the digest is known."""


class TokenStore:
    """The tenant's tokens as items."""

    raises_version = False
    keeps_origin = False

    def items(self, access: StoreAccess, resource: Resource, parents: Sequence[str] = ()) -> list[Item]:  # noqa: ARG002 - Store
        """Return the tokens, the oldest first."""
        return [_item(row) for row in store.all_tokens(access.work)]

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:  # noqa: ARG002 - Store
        """Return a token by its name."""
        row = store.named(access.work, item_id[0])
        return _item(row) if row is not None else None

    def add(self, access: StoreAccess, resource: Resource, item: Item, unique_key: str | None) -> None:  # noqa: ARG002 - Store
        """Add a token. Raises IntegrityError if its name is taken."""
        settings = contract.InitialAccessToken.model_validate(item.content)
        expires_at = access.now + timedelta(days=settings.expires_in_days)
        item.content["expires_at"] = iso(expires_at)
        times: dict[str, Any] = {"created_at": item.created_at or access.now, "expires_at": expires_at}
        store.add(access.work, item.id[0], item.secrets["token"], max_uses=settings.max_uses, **times)

    def change(self, access: StoreAccess, resource: Resource, item: Item, unique_key: str | None) -> None:
        """A token does not change."""
        raise NotImplementedError

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:  # noqa: ARG002 - Store
        """End a token."""
        store.remove(access.work, item_id[0])


rules.store = TokenStore()


def _item(row: Any) -> Item:
    days = (row.expires_at - row.created_at) // timedelta(days=1)
    content = {
        "name": row.name,
        "max_uses": row.max_uses,
        "expires_in_days": days,
        "uses": row.uses,
        "expires_at": iso(row.expires_at),
    }
    return Item((row.name,), content, {"token": _KEPT}, created_at=row.created_at, modified_at=row.created_at)
