"""The rules of stores and sites, in addition to their declarations: each needs its secrets."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.storefronts import storefront_operations
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import OnChange, Rules, may_lack_secrets
from app.kit.resources.resource import Resource

MIN_CHARACTERS: Final = 32
"""Of a secret that signs: HMAC with SHA-256 needs a key of 32 bytes (RFC 7518 section 3.2)."""


def _refuses_missing_secrets(resource: Resource) -> OnChange:
    def check(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
        """Raises BadField."""
        for member in resource.members:
            name = member.path[-1]
            if not member.is_secret or (name not in after.secrets and may_lack_secrets(context)):
                continue
            least = MIN_CHARACTERS if name in ("multipass_secret", "client_secret") else 1
            if len(after.secrets.get(name, "")) < least:
                raise errors.BadField(f"{member.request_name}: at least {least} characters.")

    return check


RULES: Final = {
    item: Rules(before_write=_refuses_missing_secrets(item))
    for item in (storefront_operations.SHOPIFY, storefront_operations.BIGCOMMERCE, storefront_operations.PERFECTMIND)
}
