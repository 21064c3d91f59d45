"""REST hooks: the older operations by which integrations subscribe URLs to events; their subscriptions are webhooks.

The docstrings are published."""

from typing import Annotated, Final

from pydantic import Field

from app.contract import errors
from app.contract.auth import API_KEY, API_SECRET
from app.contract.catalogue import operation
from app.contract.shared_responses import Deleted, Posted
from app.kit.operations.wire import From, Nothing, Wire

MAX_REST_HOOKS: Final = 5
_PATH: Final = "/api/v2/webhook"
_TARGET: Final = "The https URL that gets the event."
_EVENT: Final = "The name of the event, in any letter case; `GET /v2/manage/webhooks/events` lists them."


class RestHook(Wire):
    """A URL and the event that it gets."""

    target_url: str = Field(alias="targeturl", description=_TARGET, examples=["https://hooks.example/accounts"])
    event: str = Field(alias="event", description=_EVENT, examples=["Register"])


class ListRestHooks(Wire):
    """Lists the subscriptions of one event, or of all events."""

    event: Annotated[str | None, From.QUERY] = Field(default=None, alias="event", description=_EVENT)


class ListedRestHook(Wire):
    """A URL and the event that it gets."""

    target_url: str = Field(description=_TARGET, examples=["https://hooks.example/accounts"])
    event: str = Field(description="The name of the event.", examples=["Register"])


class RestHooks(Wire):
    """The subscriptions, the oldest first."""

    data: list[ListedRestHook] = Field(alias="data", description="The subscriptions.")
    count: int = Field(description="How many there are.", examples=[1])


class RestHooksAllowed(Wire):
    """Whether the caller may subscribe URLs."""

    is_allowed: bool = Field(default=True, description="Always true: a caller that may not gets an error.")


subscribe = operation(
    "rest_hooks.subscribe", f"POST {_PATH}", RestHook, Posted, auth=API_KEY & API_SECRET,
    errors=(errors.TooManyWebhooks, errors.WebhookEventRefused, errors.WebhookUrlRefused, errors.WebhookUrlTaken),
    summary="Subscribe a URL",
    description=f"Creates a webhook that sends an event to a URL. A tenant can have {MAX_REST_HOOKS} such webhooks. Use "
    "`POST /v2/manage/webhooks` for new integrations.",
)  # fmt: skip
list_subscriptions = operation(
    "rest_hooks.list", f"GET {_PATH}", ListRestHooks, RestHooks, auth=API_KEY & API_SECRET, errors=(errors.WebhookEventRefused,),
    summary="List subscribed URLs",
    description="Returns the URL and event of all webhooks, or of those of one event.",
)  # fmt: skip
test_access = operation(
    "rest_hooks.test_access", f"GET {_PATH}/test", Nothing, RestHooksAllowed, auth=API_KEY & API_SECRET,
    summary="Check access to webhooks",
    description="Returns whether the caller may subscribe URLs. Integrations call it to test their credentials.",
)  # fmt: skip
unsubscribe = operation(
    "rest_hooks.unsubscribe", f"DELETE {_PATH}", RestHook, Deleted, auth=API_KEY & API_SECRET,
    errors=(errors.WebhookNotSubscribed,),
    summary="Unsubscribe a URL",
    description="Deletes the webhook that sends an event to a URL.",
)  # fmt: skip
