"""Webhooks: a tenant's servers that get the events of its accounts.

`OLDER_WEBHOOKS` are the same webhooks at an older address. The docstrings are published."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from app.contract import errors
from app.contract.auth import API_KEY, API_SECRET, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_profiles import MANAGE_WITH_SECRET, OLDER_MANAGE
from app.contract.resources import collection, older_spelling
from app.contract.webhooks.events import EVENTS, event_named
from app.contract.webhooks.targets import comparable
from app.kit.operations.wire import Nothing, Wire
from app.kit.resources.resource import (
    CREATE,
    CREATED_AT,
    DELETE,
    ENCRYPTED,
    FIXED,
    LIST,
    MODIFIED_AT,
    ONCE,
    READ,
    READ_ONLY,
    SECRET,
    UPDATE,
    Key,
    Malformed,
    ResourceAction,
)

MAX_WEBHOOKS: Final = 50
OVERLAP_HOURS: Final = 24
"""How long the former signing secret signs beside the new one."""
SIGNING_SECRET: Final = "signing_secret"
FORMER_SIGNING_SECRET: Final = "former_signing_secret"
"""Names of a webhook's secrets in its item. The former one is in force until `former_signing_secret_until`."""
_AUTH_TYPES: Final = ("None", "Basic", "Bearer")


def _event(name: str) -> str:
    """Return the event's name as it is listed; a name that no event has as it is, for the refusal."""
    return event_named(name) or name


def _auth_type(name: Any) -> Any:
    return next((known for known in _AUTH_TYPES if isinstance(name, str) and known.casefold() == name.casefold()), name)


EventField = Annotated[str, AfterValidator(_event)]
AuthType = Annotated[Literal["None", "Basic", "Bearer"], BeforeValidator(_auth_type)]
_Map = Annotated[dict[str, str], ENCRYPTED]


class WebhookBasicAuth(Wire):
    """The user name and password of HTTP Basic authentication (RFC 7617)."""

    username: Annotated[str | None, Field(max_length=200)] = Field(
        default=None, description="The user name.", examples=["gatehouse"]
    )
    password: Annotated[str | None, SECRET, Field(max_length=500)] = Field(
        default=None, description="The password.", examples=["the password at the target"]
    )


class WebhookBearerToken(Wire):
    """The token of bearer authentication (RFC 6750)."""

    token: Annotated[str | None, SECRET, Field(max_length=4_000)] = Field(
        default=None, description="The token.", examples=["the token of the target"]
    )


class WebhookAuthentication(Wire):
    """How deliveries authenticate at the target. Responses mask the password and the token."""

    auth_type: AuthType = Field(
        default="None",
        description="The scheme, in any letter case; `Basic` needs `BasicAuth`, and `Bearer` needs `BearerToken`.",
        examples=["Basic"],
    )
    basic_auth: WebhookBasicAuth | None = Field(default=None, description="What `Basic` sends.")
    bearer_token: WebhookBearerToken | None = Field(default=None, description="What `Bearer` sends.")


class Webhook(Wire):
    """A subscription: one event, and the URL that gets it."""

    id: Annotated[str, Key("webhookId", is_minted=True)] = Field(description="The generated ID.")
    target_url: Annotated[str, FIXED] = Field(
        description="The https URL that gets the event, without user name, password and fragment; at most 2,048 characters.",
        examples=["https://shop.acme.example/hooks/accounts"],
    )
    event: Annotated[EventField, FIXED] = Field(
        description="The event, in any letter case; `GET /v2/manage/webhooks/events` lists the names.",
        examples=["Register"],
    )
    name: Annotated[str | None, Field(max_length=100)] = Field(
        default=None, description="A name for people.", examples=["New customers to the shop"]
    )
    secret_name: Annotated[str | None, Field(max_length=100)] = Field(
        default=None, description="A name for the secret whose HMAC is the header `signature`: with any name that is the webhook's own "
        "`SigningSecret`, as text. Default: the API secret.",
        examples=["shop"],
    )  # fmt: skip
    is_integration_webhook: Annotated[bool, READ_ONLY] = Field(
        default=False, description="Whether an integration created it, by `POST /api/v2/webhook`."
    )
    headers: _Map = Field(
        default_factory=dict,
        description="Headers that each delivery has in addition; stored encrypted. Names of headers that Gatehouse sets are refused.",
        examples=[{"X-Team": "shop"}],
    )
    query_params: _Map = Field(
        default_factory=dict,
        description="Query parameters that are added to the URL; stored encrypted.",
        examples=[{"source": "gatehouse"}],
    )
    authentication: WebhookAuthentication | None = Field(
        default=None, description="How deliveries authenticate at the target."
    )
    is_enabled: bool = Field(
        default=True, description="Whether events are sent. A target that responds 410 Gone disables its webhook."
    )
    format: Literal["Json", "CloudEvents"] = Field(
        default="Json",
        description="The body of deliveries: `Json` has HookName, Time, HookId and Data; `CloudEvents` is a CloudEvents 1.0 "
        "event in structured mode.",
        examples=["CloudEvents"],
    )
    signing_secret: Annotated[str | None, ONCE] = Field(
        default=None,
        description="The secret that signs deliveries as Standard Webhooks specifies. Only the responses that create or rotate it "
        "show it.",
    )
    former_signing_secret_until: Annotated[str | None, READ_ONLY] = Field(
        default=None, description="Until when the former signing secret signs too, after a rotation."
    )
    created_date: Annotated[str | None, CREATED_AT] = Field(default=None, description="When it was created.")
    last_modified_date: Annotated[str | None, MODIFIED_AT] = Field(
        default=None, description="When it was last changed."
    )


class OlderWebhook(Webhook):
    """A subscription: one event, and the URL that gets it."""

    target_url: Annotated[str, FIXED, Malformed(errors.WebhookUrlRefused)] = Field(
        description="The https URL that gets the event."
    )
    event: Annotated[EventField, FIXED, Malformed(errors.WebhookEventRefused)] = Field(
        description="The event, in any letter case.", examples=["Register"]
    )


class OlderWebhookDeleted(Wire):
    """The webhook is deleted."""

    is_deleted: bool = Field(default=True, alias="isdeleted")


class WebhookEvents(Wire):
    """The names of all events."""

    data: list[str] = Field(description="The names, as webhooks store them.", examples=[list(EVENTS[:2])])


_VERBS = (LIST, CREATE, READ, UPDATE, DELETE)
_SERVERS = MACHINE_TOKEN | API_KEY & API_SECRET
"""Existing client libraries send the API key and secret to the address of today, too."""
_PATH, _OLDER_PATH = "/v2/manage/webhooks", "/v2/manage/webhook"

list_events = operation(
    "webhooks.list_events", f"GET {_PATH}/events", Nothing, WebhookEvents, auth=_SERVERS, scope="webhook:read",
    error_profile=MANAGE_WITH_SECRET,
    summary="List events",
    description="Returns the names of the events that a webhook can get.",
)  # fmt: skip
older_list_events = operation(
    "webhooks.older_list_events", f"GET {_OLDER_PATH}/events", Nothing, WebhookEvents, auth=_SERVERS, scope="webhook:read",
    error_profile=OLDER_MANAGE,
    summary="List events (older address)",
    description=f"Returns the same as `GET {_PATH}/events`.",
)  # fmt: skip

WEBHOOKS = collection(
    "webhooks", _PATH, Webhook, verbs=_VERBS, noun="webhook", scope="webhook", auth=_SERVERS,
    error_profile=MANAGE_WITH_SECRET,
    about="A webhook sends one event of all accounts to one URL of yours. A delivery shows the account’s profile, so a program "
    "that writes webhooks needs the scope `profile:read` too.",
    exists=errors.WebhookExists, unknown=errors.UnknownWebhook, unique=("target_url", "event"), fold=comparable,
    max_items=MAX_WEBHOOKS, audit="webhook", file_key="webhooks",
    file_note="Webhooks: which URL gets which event of the tenant's accounts. A webhook without `id` is found by `target_url` and `event`.",
    actions=(
        ResourceAction(
            "rotate_secret", f"POST {_PATH}/{{webhookId}}/rotate-secret", "Rotate a signing secret", renews=(SIGNING_SECRET,),
            description=f"Returns the webhook with a new `SigningSecret`. For {OVERLAP_HOURS} hours deliveries are signed with the former "
            "one too, so that your servers can change over.",
        ),
    ),
)  # fmt: skip
OLDER_WEBHOOKS = older_spelling(
    WEBHOOKS, _OLDER_PATH, OlderWebhook, auth=_SERVERS, error_profile=OLDER_MANAGE, deleted=OlderWebhookDeleted,
    about=f"This is the older address of `{_PATH}`, for existing clients: the same webhooks, also with the API secret.",
    exists=errors.WebhookUrlTaken, unknown=errors.WebhookNotSubscribed, full=errors.TooManyWebhooks,
)  # fmt: skip
