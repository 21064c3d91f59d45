"""The rules of stores and sites beside what their declarations say: each needs its secrets."""

from __future__ import annotations

from functools import partial
from typing import Final

from app.contract import errors as e
from app.contract import storefronts as contract
from app.identity.platform.context import Context
from app.identity.platform.resources.hooks import rules_of
from app.identity.platform.resources.items import Item
from app.kit.resource import Resource

LEAST_CHARACTERS: Final = 32
"""Of a secret that signs: HMAC with SHA-256 needs a key of 32 bytes (RFC 7518 section 3.2)."""


def _refuse_missing(context: Context, item: Item, *, resource: Resource) -> None:  # noqa: ARG001 - the hook's signature
    """Raises BadField."""
    for member in resource.members:
        name = member.path[-1]
        if not member.is_secret:
            continue
        least = LEAST_CHARACTERS if name in ("multipass_secret", "client_secret") else 1
        if len(item.secrets.get(name, "")) < least:
            raise e.BadField(f"{member.request_name}: at least {least} characters.")


def _refuse_missing_in_change(context: Context, before: Item | None, after: Item, *, resource: Resource) -> None:  # noqa: ARG001 - the hook's signature
    """Raises BadField."""
    _refuse_missing(context, after, resource=resource)


for _resource in (contract.SHOPIFY, contract.BIGCOMMERCE, contract.PERFECTMIND):
    rules_of(_resource).before_create(partial(_refuse_missing, resource=_resource))
    rules_of(_resource).before_update(partial(_refuse_missing_in_change, resource=_resource))
