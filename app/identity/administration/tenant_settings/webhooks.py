"""The rules of webhooks, in addition to their declaration."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.tenants.settings import TenantSettings
from app.contract.webhooks.events import EVERY_EVENT, event_named
from app.contract.webhooks.targets import MAX_URL, is_listener, is_target
from app.contract.webhooks.webhook_operations import (
    FORMER_SIGNING_SECRET,
    OLDER_WEBHOOKS,
    OVERLAP_HOURS,
    SIGNING_SECRET,
    WEBHOOKS,
)
from app.identity.administration.tenant_settings import webhook_additions
from app.identity.platform.context import Context
from app.identity.platform.powers import Power
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.identity.platform.resource_storage.rules import OnChange, Rules, may_lack_secrets
from app.identity.webhooks import subscriptions
from app.kit import randomness
from app.kit.clock import iso
from app.kit.operations.errors import ApiError
from app.kit.operations.wire import Wire
from app.kit.resources.resource_values import ItemInput, value_at

SHOWS_PROFILES: Final = Power("profile:read", "a webhook, whose deliveries show profiles")
_OVERLAP: Final = timedelta(hours=OVERLAP_HOURS)
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_CREDENTIALS: Final = {
    "Basic": ("authentication.basic_auth.password", "Authentication.BasicAuth.Password"),
    "Bearer": ("authentication.bearer_token.token", "Authentication.BearerToken.Token"),
}
"""The secret that each type of authentication needs: its name in the item, and in requests."""


def new_signing_secret() -> str:
    """Return a symmetric secret in the form of Standard Webhooks, whose libraries take it as it is."""
    return f"whsec_{b64encode(randomness.random_bytes(32)).decode()}"


def problems(content: Any, settings: TenantSettings | None) -> Iterator[tuple[str, str]]:  # noqa: ARG001 - the hook's signature
    """Yield the invalid values of a webhook."""
    if not is_target(content.target_url):
        yield (
            "target_url",
            f"an https URL of at most {MAX_URL:,} ASCII characters, without user name, password and fragment",
        )
    is_for_all = content.event == EVERY_EVENT and is_listener(content.target_url)
    if event_named(content.event) is None and not is_for_all:
        yield "event", "an event that `GET /v2/manage/webhooks/events` lists"
    authentication = content.authentication
    auth_type = authentication.auth_type if authentication is not None else "None"
    for sentence in webhook_additions.header_problems(content.headers, is_authenticated=auth_type != "None"):
        yield "headers", sentence
    for sentence in webhook_additions.query_problems(content.query_params):
        yield "query_params", sentence
    if auth_type == "Basic":
        username = (authentication.basic_auth.username if authentication.basic_auth else None) or ""
        if (expected := webhook_additions.credential_problem("username", username)) is not None:
            yield "authentication.basic_auth.username", expected


def _completes(bad: type[ApiError]) -> OnChange:
    """Return the rule that completes a webhook's secrets. `bad`: the error of a malformed field."""

    def complete(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
        """Raises `bad`."""
        after.secrets.setdefault(SIGNING_SECRET, new_signing_secret())
        used = value_at(after.content, ("authentication", "auth_type"))
        for auth_type, (name, member) in _CREDENTIALS.items():
            if auth_type != used:
                after.secrets.pop(name, None)  # a later change of the type needs it again
            elif name in after.secrets or not may_lack_secrets(context):
                kind, value = name.rpartition(".")[2], after.secrets.get(name, "")
                if (expected := webhook_additions.credential_problem(kind, value)) is not None:
                    raise bad(f"{member}: expected {expected}.")

    return complete


def _change_queue(context: Context, before: Item | None, after: Item) -> None:
    """Queue the ping of a new webhook; a change may be what lets the target take deliveries again."""
    if before is not None:
        subscriptions.end_pause(context, after)
    elif subscriptions.is_enabled(after):
        subscriptions.post_ping(context, after)


def _end_queue(context: Context, item: Item) -> None:
    """Let the worker find the deliveries of a deleted webhook at once: it makes dead letters of them."""
    subscriptions.end_pause(context, item)


def _powers(context: Context, item: Item) -> Iterable[Power]:  # noqa: ARG001 - the hook's signature
    return (SHOWS_PROFILES,)


def _refuse_malformed_id(context: Context, item_input: ItemInput) -> None:  # noqa: ARG001 - the hook's signature
    """Raises BadField, as the interface has it for an id that no webhook can have."""
    if any(_ID.fullmatch(part) is None for part in item_input.id.values()):
        raise errors.BadField("webhookId: the ID of a webhook.")


def _rotate(context: Context, item: Item, req: Wire) -> Item:  # noqa: ARG001 - the hook's signature
    """Let the former signing secret sign beside the new one for a while."""
    stored = SHARED_TABLE.item(StoreAccess.of(context), WEBHOOKS, item.id)
    former = stored.secrets.get(SIGNING_SECRET) if stored is not None else None
    secrets = {**item.secrets, **({FORMER_SIGNING_SECRET: former} if former else {})}
    content = {**item.content, "former_signing_secret_until": iso(context.now + _OVERLAP)}
    return replace(item, content=content, secrets=secrets, modified_at=context.now)


def _rules(bad: type[ApiError], on_input: Callable[[Context, ItemInput], None] | None = None) -> Rules:
    return Rules(
        on_input=on_input,
        problems=problems,
        powers=_powers,
        generate=new_signing_secret,
        before_write=_completes(bad),
        after_write=_change_queue,
        after_delete=_end_queue,
        actions={"rotate_secret": _rotate},
    )


RULES: Final = {
    WEBHOOKS: _rules(errors.BadField, _refuse_malformed_id),
    OLDER_WEBHOOKS: _rules(errors.BadParameter),
}
