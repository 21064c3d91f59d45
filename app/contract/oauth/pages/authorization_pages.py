"""Operations behind the pages of an authorization request: open it, answer its consent page; and the hub's own client."""

from typing import Annotated, Final

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import hub_operation
from app.contract.page_models import InteractionDecision
from app.contract.steps import StepResponse
from app.kit.operations.wire import From, Wire

MAX_STATE: Final = 8_192
"""Maximum length of `state` at sign-in and sign-out: some applications store a page's address in it."""


MAX_RETURN_URL: Final = 16_384
"""Maximum length of an authorization request's address: `state`, and the other parameters."""


class AuthorizeRequest(Wire):
    """The raw authorization request (RFC 6749 section 4.1.1); `parameters` in order, repeated ones included."""

    protocol: str  # oidc or oauth
    app: str | None = None  # the application's name in the address; None at the tenant-wide issuer
    parameters: list[tuple[str, str]]


authorize = hub_operation(
    "hub.authorize", "POST /hub/authorize", AuthorizeRequest, StepResponse, summary="Open an authorization request.",
)  # fmt: skip


class ConsentRequest(InteractionDecision):
    """`refused`: optional scopes that the person left out."""

    refused: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=100)


consent = hub_operation(
    "hub.consent", "POST /hub/consent", ConsentRequest, StepResponse, summary="Answer the consent page of an interaction.",
)  # fmt: skip


class HubClientRequest(Wire):
    """The hub's own client: for the redirect to /callback/{name}."""

    name: Annotated[str, From.PATH]


class HubClient(Wire):
    client_id: str
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    scope: str = "openid profile email"


hub_client = hub_operation(
    "hub.hub_client", "GET /hub/clients/{name}", HubClientRequest, HubClient, errors=(errors.UnknownAccount,),
    summary="Read the hub's own registration as a relying party (a public client, PKCE).",
)  # fmt: skip
