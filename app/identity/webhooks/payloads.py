"""The bodies of deliveries. One is made when its event happens and stored: every try sends the same bytes, which receivers verify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import to_json

from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.profile.profile_document import profile_of
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.kit.clock import iso

PING: Final = "ping"
"""The name of what a webhook receives when it is created, and from a test call: no event of an account."""
CLOUD_EVENTS: Final = "CloudEvents"
_NAMESPACE: Final = "gatehouse"


@dataclass(frozen=True)
class Occurrence:
    """What a webhook tells of: an event of an account, or a ping.

    Attributes:
        event: as the interface spells it.
        subject: the account's id.
        profile: of the account after the event; of a ping, the webhook.
    """

    event: str
    subject: str | None
    profile: dict[str, Any]


def of_account(event: str, account: Account) -> Occurrence:
    """Return an event with the profile as operations show it, without the member that stands for the password."""
    profile = profile_of(account)
    profile.pop("Password")
    return Occurrence(event, account.uid, profile)


def of_webhook(webhook: Item) -> Occurrence:
    content = webhook.content
    shown = {"Id": webhook.name, "Event": content["event"], "Name": content.get("name")}
    return Occurrence(PING, None, shown)


def body_of(context: Context, webhook: Item, occurrence: Occurrence, message_id: str) -> str:
    """Return the JSON that a webhook receives, in its format."""
    event, time = occurrence.event.lower(), iso(context.now)
    if webhook.content.get("format") == CLOUD_EVENTS:
        return to_json(_cloud_event(context, occurrence, message_id, f"{_NAMESPACE}.{event}", time)).decode()
    return to_json({"HookName": event, "Time": time, "HookId": message_id, "Data": occurrence.profile}).decode()


def content_type(webhook: Item) -> str:
    is_cloud_event = webhook.content.get("format") == CLOUD_EVENTS
    return "application/cloudevents+json" if is_cloud_event else "application/json"


def _cloud_event(
    context: Context, occurrence: Occurrence, message_id: str, event_type: str, time: str | None
) -> dict[str, Any]:
    """Return the event in the structured mode of CloudEvents 1.0 (JSON Event Format section 3)."""
    return {
        "specversion": "1.0",
        "id": message_id,
        "source": context.own_urls[0],
        "type": event_type,
        **({"subject": occurrence.subject} if occurrence.subject else {}),
        "time": time,
        "datacontenttype": "application/json",
        "data": occurrence.profile,
    }
