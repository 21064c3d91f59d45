"""SOTTs that apps carry: each is a resource, so that deleting it ends the token."""

from __future__ import annotations

from app.contract.registration.app_sotts import SOTTS
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE


def exists(context: Context, resource_id: str) -> bool:
    """Return whether the token with this id has not been deleted."""
    access = StoreAccess(context.work, context.services.encryption, context.now)
    return SHARED_TABLE.item(access, SOTTS, (resource_id,)) is not None
