"""Deliveries of webhooks: a test call, and the keys that verify deliveries.

The docstrings are published."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from app.contract import errors
from app.contract.auth import MACHINE_TOKEN, Host
from app.contract.catalogue import operation
from app.contract.error_profiles import MANAGE, OAUTH
from app.contract.oauth import oauth_errors
from app.kit.operations.auth import Cors
from app.kit.operations.wire import Document, From, Nothing, Wire

_PATH: Final = "/v2/manage/webhooks/{webhookId}"
_UNKNOWN: Final = (errors.UnknownWebhook,)


class WebhookPath(Wire):
    """A webhook, by the ID in the path."""

    webhook_id: Annotated[str, From.PATH] = Field(alias="webhookId", description="The ID of the webhook.")


class WebhookTested(Wire):
    """What the target answered to a test call."""

    is_posted: bool = Field(description="Whether the target took it, with a status of 2xx.", examples=[True])
    status_code: int | None = Field(description="The status of the answer; null if there was none.", examples=[200])
    problem: str | None = Field(
        description="Why it was not taken; null if it was.", examples=["hooks.example answered 500"]
    )


test = operation(
    "webhooks.test", f"POST {_PATH}/test", WebhookPath, WebhookTested, auth=MACHINE_TOKEN, scope="webhook:update",
    error_profile=MANAGE, errors=_UNKNOWN,
    summary="Test a webhook",
    description="Sends a `ping` to the target, signed like every delivery, and waits up to 15 seconds for the answer. A test call is "
    "not in the log of deliveries.",
)  # fmt: skip
keys = operation(
    "webhooks.keys", "GET /.well-known/webhook-keys", Nothing, Document, on=Host.TENANT, cors=Cors.ANY, error_profile=OAUTH,
    errors=(oauth_errors.UnknownApplication,), is_cached=True,
    summary="Get the keys of webhooks",
    description="Returns the public keys that verify the `v1a` signatures of the tenant’s deliveries, as a JSON Web Key Set. Each key "
    "has the member `whpk` too, the form that libraries of Standard Webhooks read. A new key is published 20 minutes before it signs.",
)  # fmt: skip
