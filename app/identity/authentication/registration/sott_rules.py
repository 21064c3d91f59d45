"""Creates the token of a SOTT that an app carries (interface tenant-config.md section 3)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from urllib.parse import quote

from app.contract.sotts import SOTTS
from app.identity.authentication.registration import sott
from app.identity.platform.context import Context
from app.identity.platform.powers import Power
from app.identity.platform.resources.hooks import rules_of
from app.identity.platform.resources.items import Item
from app.kit.clock import iso

rules = rules_of(SOTTS)


@rules.powers
def powers_of(context: Context, item: Item) -> Iterable[Power]:  # noqa: ARG001 - the hook's signature
    """Its holder registers accounts by the tenant's own rules."""
    yield Power("sott:create", "SOTTs")


@rules.before_create
def create_token(context: Context, item: Item) -> None:
    """Write the token and its period into the new item."""
    minutes = int(item.content["expires_in_minutes"])
    token = sott.create_for_app(context, item.id[0], minutes)
    item.secrets["sott"] = quote(token, safe="") if item.content.get("is_encoded") else token
    starts = context.now
    ends = starts + timedelta(minutes=minutes)
    item.content["date_range"] = f"{iso(starts)}/{iso(ends)}"
