"""What the hub asks when somebody signs in through another provider."""

from typing import Annotated

from pydantic import Field

from app.contract import errors as e
from app.contract.errors import federation as refusals
from app.contract.hashing import HASHES_SECRETS
from app.contract.hub import SIGN_IN_ERRORS, Next
from app.contract.operations import hub_operation
from app.kit.wire import From, Wire

Text = Annotated[str, Field(max_length=4_000)]


class ConnectionStart(Wire):
    """`provider` is the connection's name; `attempt` as at sign-in."""

    provider: Annotated[str, Field(max_length=100)]
    attempt: str | None = None


class ConnectionHandler(Wire):
    """What a program asks by its link (interface federation.md section 12): where its visitor goes afterwards, and with what."""

    provider: Annotated[str, Field(max_length=100)]
    api_key: str | None = None
    callback: Annotated[str | None, Field(max_length=2_000)] = None
    callback_type: Annotated[str, Field(max_length=20)] = ""  # Post, QueryString or hash
    is_access_token: bool = False  # the access token itself comes back
    ac_linking: bool = False  # what comes back links an account: nobody is signed in
    disable_sign_up: bool = False
    callback_guid: Annotated[str | None, Field(max_length=100)] = None  # nothing comes back: a program asks by this


class DeviceHandoff(Wire):
    attempt: str
    allow: bool


class ConnectionCallback(Wire):
    """What the browser brings back from the provider (RFC 6749 section 4.1.2, RFC 9207)."""

    state: Text
    code: Text = ""
    error: Text = ""
    iss: Text = ""


class ConnectedProfileRequest(Wire):
    attempt: Annotated[str, From.QUERY]


class ConnectedProfile(Wire):
    """What a provider said of somebody who has no account yet: the page of registration is filled in with it."""

    title: str
    fields: dict[str, str] = Field(default_factory=dict)  # by the names of the tenant's form


_NOT_THERE = (refusals.UnknownConnection, refusals.ConnectionNotConfigured)

start = hub_operation(
    "hub.start_connection", "POST /hub/connections/start", ConnectionStart, Next, errors=_NOT_THERE,
    summary="Lead a browser to another provider: REDIRECT to it.",
)  # fmt: skip
handle = hub_operation(
    "hub.handle_connection", "POST /hub/connections/handle", ConnectionHandler, Next,
    errors=(*_NOT_THERE, refusals.NoCallbackLoginOff, e.WrongClientGuid, e.ClientGuidTaken, e.UnknownKey),
    summary="Lead a program's visitor to another provider, and afterwards back to the program (user.md row U14).",
)  # fmt: skip
finish = hub_operation(
    "hub.finish_connection", "POST /hub/connections/finish", ConnectionCallback, Next, hashing=HASHES_SECRETS, errors=SIGN_IN_ERRORS,
    summary="Go on with whom the provider sends back: signed in, linked, registered, or asked first.",
)  # fmt: skip
hand_over = hub_operation(
    "hub.hand_over", "POST /hub/connections/hand-over", DeviceHandoff, Next,
    summary="Say whether a program on another device gets in by what was finished in this attempt.",
)  # fmt: skip
connected = hub_operation(
    "hub.connected", "GET /hub/connections/connected", ConnectedProfileRequest, ConnectedProfile, errors=(e.UnknownAccount,),
    summary="Read what a provider said of somebody who registers in this attempt.",
)  # fmt: skip
