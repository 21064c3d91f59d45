"""Cross-device sign-on: a device shows a code as a QR code, and a signed-in phone approves it.

The docstrings are published."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import API_KEY, NEVER
from app.contract.catalogue import operation
from app.contract.error_groups import NEW_ORIGIN
from app.kit.operations.wire import From, Wire

Query = From.QUERY
DEFAULT_SECONDS, MAX_SECONDS = 60, 300
Code = Annotated[str, Field(max_length=200)]


class GenerateCode(Wire):
    """`expiry`: seconds that the code is valid; 0 is the default."""

    expiry: Annotated[int, Query, Field(ge=0, le=MAX_SECONDS)] = Field(default=DEFAULT_SECONDS, alias="expiry")


class GeneratedCode(Wire):
    """A code for cross-device sign-on. Show `code` as a QR code and `number` next to it: the person types these two digits on
    the phone. If the request contains the API secret, there's no `number`, and the phone doesn't ask for one."""

    omits_none = True

    code: str = Field(alias="code")
    number: str | None = Field(default=None, alias="number")


class ApproveCode(Wire):
    """The access token of the phone, the code it scanned, and the number that the screen shows."""

    access_token: Annotated[str | None, Field(max_length=8_000)] = Field(default=None, alias="access_token")
    code: Code | None = Field(default=None, alias="code")
    number: Annotated[str | None, Field(max_length=20)] = Field(default=None, alias="number")


class Approved(Wire):
    is_posted: bool = Field(default=True, alias="isPosted")


class PollCode(Wire):
    code: Annotated[Code | None, Query] = Field(default=None, alias="code")


class DeviceToken(Wire):
    """The device's access token for the account on the phone."""

    access_token: str = Field(alias="access_token")


generate = operation(
    "cross_device.generate", "GET /sso/mobile/generate", GenerateCode, GeneratedCode, auth=API_KEY, takes_secret=True,
    errors=(errors.MalformedKey, errors.EndpointForbidden),
    summary="Create a sign-in code",
    description="Returns a code to draw as a QR code, and a number to show with it. A signed-in phone scans the code and approves "
    "the sign-in; poll `GET /sso/mobile/token` meanwhile.",
)  # fmt: skip
approve = operation(
    "cross_device.approve", "POST /sso/mobile/token", ApproveCode, Approved, auth=API_KEY, access=NEVER,
    errors=(errors.InvalidAccessToken, errors.ExpiredAccessToken, errors.EndpointForbidden, errors.WrongMailCode),
    summary="Approve a sign-in code",
    description="Approves the sign-in of the screen that shows the code, with the access token of the phone that scanned it.",
)  # fmt: skip
poll = operation(
    "cross_device.poll", "GET /sso/mobile/token", PollCode, DeviceToken, auth=API_KEY,
    errors=(*NEW_ORIGIN, errors.EndpointForbidden, errors.SmartLinkWaits),
    summary="Poll for the approved code",
    description="Returns the access token once the code was approved. It’s handed over once.",
)  # fmt: skip
