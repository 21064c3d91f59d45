"""Deliveries of webhooks: a test call, the end of a pause, the log of thirty days, and replays; and the keys that verify deliveries.

The docstrings are published. A delivery that is unknown has the error of an unknown webhook, whose description says so."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, Field

from app.contract import errors
from app.contract.auth import MACHINE_TOKEN, Host
from app.contract.catalogue import Req, Res, operation
from app.contract.error_profiles import MANAGE, OAUTH
from app.contract.oauth import oauth_errors
from app.contract.paging import PagedByDefault
from app.kit.operations.auth import Cors
from app.kit.operations.operation import Operation
from app.kit.operations.wire import Document, From, Nothing, Wire

KEPT_DAYS: Final = 30
MAX_REPLAYED: Final = 1_000
"""In one request."""
MAX_RESUMED: Final = 1_000
MAX_LISTED: Final = 10_000
"""In all pages: `since` and `until` select others."""
State = Literal["waiting", "sent", "dead"]
_PATH: Final = "/v2/manage/webhooks/{webhookId}"
_DELIVERIES: Final = f"{_PATH}/deliveries"
_SINCE: Final = "The earliest time, in ISO 8601 with a UTC offset."
_UNTIL: Final = "The time before which deliveries were caused, in ISO 8601 with a UTC offset."
_EXAMPLE_TIME: Final = "2026-11-29T08:00:00.000Z"


class WebhookPath(Wire):
    """A webhook, by the ID in the path."""

    webhook_id: Annotated[str, From.PATH] = Field(alias="webhookId", description="The ID of the webhook.")


class DeliveryPath(WebhookPath):
    """A delivery of a webhook, by the IDs in the path."""

    delivery_id: Annotated[str, From.PATH, Field(max_length=64)] = Field(
        alias="deliveryId", description="The ID of the delivery, which is also its `HookId` and `webhook-id`."
    )


class ListDeliveries(WebhookPath, PagedByDefault):
    """Which deliveries to list."""

    state: Annotated[State | None, From.QUERY] = Field(default=None, description="Only deliveries in this state.")
    event: Annotated[str | None, From.QUERY, Field(max_length=40)] = Field(
        default=None,
        description="Only deliveries of this event, in any letter case; `ping` for pings.",
        examples=["Login"],
    )
    since: Annotated[AwareDatetime | None, From.QUERY] = Field(
        default=None, description=_SINCE, examples=[_EXAMPLE_TIME]
    )
    until: Annotated[AwareDatetime | None, From.QUERY] = Field(
        default=None, description=_UNTIL, examples=[_EXAMPLE_TIME]
    )


class ReplayDeliveries(WebhookPath):
    """Which deliveries to send again."""

    since: AwareDatetime = Field(description=_SINCE, examples=[_EXAMPLE_TIME])
    until: AwareDatetime | None = Field(default=None, description=_UNTIL, examples=[_EXAMPLE_TIME])
    state: Literal["dead", "sent"] = Field(
        default="dead",
        description="`dead` for those that were given up, `sent` for those that arrived.",
        examples=["dead"],
    )


class WebhookTested(Wire):
    """What the target answered to a test call."""

    is_posted: bool = Field(description="Whether the target took it, with a status of 2xx.", examples=[True])
    status_code: int | None = Field(description="The status of the answer; null if there was none.", examples=[200])
    problem: str | None = Field(
        description="Why it was not taken; null if it was.", examples=["hooks.example answered 500"]
    )


class Resumed(Wire):
    """What is tried again."""

    was_paused: bool = Field(description="Whether the webhook was paused.", examples=[True])
    count: int = Field(
        description=f"How many deliveries that had failed are tried again now, at most {MAX_RESUMED:,}.", examples=[3]
    )


class WebhookDelivery(Wire):
    """A delivery: one event for one webhook, over all its attempts."""

    id: str = Field(
        description="The ID, which each attempt sends as `HookId` and `webhook-id`.",
        examples=["0e1f8a55c93d4b0e8f7f0a6b1c2d3e4f"],
    )
    event: str = Field(description="The event, or `ping`.", examples=["Login"])
    status_code: int | None = Field(description="The status of the last answer; null without one.", examples=[200])
    attempt: int = Field(description="How many attempts there were.", examples=[1])
    time: str = Field(description="When the event happened.", examples=[_EXAMPLE_TIME])
    state: State = Field(
        description="`waiting` for the next attempt, `sent`, or `dead`: given up, until it is replayed.",
        examples=["sent"],
    )
    due_at: str | None = Field(
        description="The earliest time of the next attempt; null if there is none.", examples=[None]
    )
    problem: str | None = Field(
        description="Why the last attempt failed; null if it did not.", examples=["hooks.example answered 500"]
    )


class WebhookDeliveries(Wire):
    """Deliveries, the newest first."""

    data: list[WebhookDelivery] = Field(description="The deliveries.")


class DeliveryRequest(Wire):
    """What was sent. Values that you add to deliveries are masked."""

    url: str | None = Field(
        description="The URL; null before the first attempt.", examples=["https://shop.acme.example/hooks"]
    )
    headers: dict[str, str] = Field(
        description="The headers of the last attempt.", examples=[{"Content-Type": "application/json"}]
    )
    body: str | None = Field(
        description="The body, the same at each attempt; null once the account is deleted.",
        examples=['{"HookName":"login"}'],
    )


class DeliveryAnswer(Wire):
    """What the target answered, without values that you add to deliveries."""

    status_code: int = Field(description="The status.", examples=[200])
    headers: dict[str, str] = Field(description="The headers.", examples=[{"content-type": "text/plain"}])
    body: str = Field(description="The first 4 KB of the body.", examples=["ok"])


class WebhookDeliveryDetails(WebhookDelivery):
    """A delivery with what was sent and answered at its last attempt."""

    request: DeliveryRequest = Field(description="What was sent.")
    answer: DeliveryAnswer | None = Field(description="What the target answered; null without an answer.")


class Replayed(Wire):
    """How many deliveries are sent again."""

    count: int = Field(description=f"The number of deliveries, at most {MAX_REPLAYED:,}.", examples=[12])
    next: str | None = Field(
        description="The `Since` of the next request, if there are more deliveries in the period; else null.",
        examples=[None],
    )


def _operation(
    name: str, address: str, request: type[Req], response: type[Res], *, verb: str, summary: str, description: str
) -> Operation[Req, Res]:
    """Declare an operation on one webhook for programs. `verb`: of the scope that it needs."""
    return operation(
        f"webhooks.{name}", address, request, response, auth=MACHINE_TOKEN, scope=f"webhook:{verb}",
        error_profile=MANAGE, errors=(errors.UnknownWebhook,), summary=summary, description=description,
    )  # fmt: skip


test = _operation(
    "test", f"POST {_PATH}/test", WebhookPath, WebhookTested, verb="update",
    summary="Test a webhook",
    description="Sends a `ping` to the target, signed like every delivery, and waits up to 15 seconds for the answer. A test call is "
    "not in the log of deliveries. If the target takes it, a pause after failures ends.",
)  # fmt: skip
resume = _operation(
    "resume", f"POST {_PATH}/resume", WebhookPath, Resumed, verb="update",
    summary="Resume a webhook",
    description="Ends the pause after failures, because your server works again: a delivery is tried at once, and the others follow if "
    "your server takes it. Deliveries that are put off each for itself are tried, too. If your server still fails, the pause goes on. "
    "The deliveries show profiles, so a program needs the scope `profile:read` too.",
)  # fmt: skip
list_deliveries = _operation(
    "list_deliveries", f"GET {_DELIVERIES}", ListDeliveries, WebhookDeliveries, verb="read",
    summary="List deliveries",
    description=f"Returns the deliveries of a webhook in the last {KEPT_DAYS} days, the newest first. Pages reach the newest "
    f"{MAX_LISTED:,}; use `Since` and `Until` for older ones.",
)  # fmt: skip
read_delivery = _operation(
    "read_delivery", f"GET {_DELIVERIES}/{{deliveryId}}", DeliveryPath, WebhookDeliveryDetails, verb="read",
    summary="Get a delivery",
    description="Returns a delivery with its request and the answer of the last attempt. The body shows a profile, so a program needs "
    "the scope `profile:read` too.",
)  # fmt: skip
replay_delivery = _operation(
    "replay_delivery", f"POST {_DELIVERIES}/{{deliveryId}}/replay", DeliveryPath, Replayed, verb="update",
    summary="Replay a delivery",
    description="Sends a delivery again, with the same ID and body. `Count` is 0 if it still waits for an attempt, or if its body was "
    "erased with the account.",
)  # fmt: skip
replay_deliveries = _operation(
    "replay_deliveries", f"POST {_PATH}/replay", ReplayDeliveries, Replayed, verb="update",
    summary="Replay deliveries",
    description="Sends the deliveries of a period again, in order for each account, such as those that were given up while your "
    f"server was down. Each request replays up to {MAX_REPLAYED:,}; repeat it with `Next` as `Since` until `Next` is null.",
)  # fmt: skip
keys = operation(
    "webhooks.keys", "GET /.well-known/webhook-keys", Nothing, Document, on=Host.TENANT, cors=Cors.ANY, error_profile=OAUTH,
    errors=(oauth_errors.UnknownApplication,), is_cached=True,
    summary="Get the keys of webhooks",
    description="Returns the public keys that verify the `v1a` signatures of the tenant’s deliveries, as a JSON Web Key Set. Each key "
    "has the member `whpk` too, the form that libraries of Standard Webhooks read. A new key is published 20 minutes before it signs.",
)  # fmt: skip
