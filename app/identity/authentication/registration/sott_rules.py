"""Creates the token of a SOTT that an app carries."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Final
from urllib.parse import quote

from app.contract.registration.app_sotts import SOTTS
from app.identity.authentication.registration import sott
from app.identity.platform.context import Context
from app.identity.platform.powers import Power
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Rules
from app.kit.clock import iso


def powers_of(context: Context, item: Item) -> Iterable[Power]:  # noqa: ARG001 - the hook's signature
    """Its holder registers accounts by the tenant's own rules."""
    yield Power("sott:create", "SOTTs")


def create_token(context: Context, before: Item | None, after: Item) -> None:
    """Write the token and its period into a new after."""
    if before is not None:
        return
    minutes = int(after.content["expires_in_minutes"])
    token = sott.create_for_app(context, after.id[0], minutes)
    after.secrets["sott"] = quote(token, safe="") if after.content.get("is_encoded") else token
    starts = context.now
    ends = starts + timedelta(minutes=minutes)
    after.content["date_range"] = f"{iso(starts)}/{iso(ends)}"


RULES: Final = {
    SOTTS: Rules(powers=powers_of, before_write=create_token),
}
