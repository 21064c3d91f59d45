"""Push approval as a second factor."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREDENTIALS, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_groups import UID_ERRORS
from app.contract.second_factors.account_factor_operations import WRITE, ManagedFactor
from app.contract.second_factors.challenge import TOKEN_ERRORS, ChallengeToken, FactorLogin
from app.contract.shared_parameters import AccessTokenQuery, FieldSelection, Uid
from app.contract.shared_responses import Deleted, Posted
from app.kit.operations.wire import Document, From, Lower, Wire

Query = From.QUERY
_AUTH = "/identity/v2/auth"
_LOGIN, _OWN, _MANAGED = f"{_AUTH}/login/2fa", f"{_AUTH}/account/2fa", "/identity/v2/manage/account/2fa"
REGISTRATION = f"{_AUTH}/push/device"
"""The address in the QR code, where a device registers."""
PICTURE = f"{_AUTH}/qr-code"


class PushPing(ChallengeToken, FieldSelection):
    """Polled about every three seconds."""


class DeviceAnswer(Lower):
    """A device's answer: `signature` is the hex of SHA256withRSA over `verify`, the token, and `number` if the request has one.

    The token is that of the message's `secondfactorauthenticationtoken`.
    """

    second_factor_authentication_token: Annotated[str, Query]
    verify: str = Field(max_length=10)
    signature: str = Field(max_length=2_000)
    number: str | None = Field(default=None, max_length=10)


class EnrolmentPicture(Lower):
    token: Annotated[str, Query]
    size: Annotated[int | None, Query] = None  # pixels; absent: the tenant's setting


class DeviceRegistration(Wire):
    """A device that scanned the QR code."""

    token: Annotated[str, Query]
    device_name: str = Field(alias="deviceName", min_length=1, max_length=100)
    device_type: str = Field(alias="deviceType", max_length=30)
    public_key: str = Field(alias="publicKey", max_length=2_000)  # hex of a DER SubjectPublicKeyInfo
    device_token: str = Field(alias="deviceToken", min_length=1, max_length=4_000)  # for the push service


class DeviceRegistered(Wire):
    is_registered: bool = Field(default=True, alias="isRegistered")


resend = operation(
    "second_factors.resend_push", f"POST {_LOGIN}", ChallengeToken, Posted, auth=API_KEY,
    when=("secondfactorauthenticationtoken",), row="M02",
    errors=(*TOKEN_ERRORS, errors.PushMisconfigured, errors.PushOff, errors.PushNotEnrolled),
    summary="Resend the push notification",
    description="Sends the push notification of a challenge again. The earlier request stops working.",
)  # fmt: skip
_PING_ERRORS = (
    *TOKEN_ERRORS, errors.PushPending, errors.PushDenied, errors.WrongPushToken, errors.PushFailed, errors.PushMisconfigured,
    errors.PushOff, errors.PushAnswered,
    errors.PushNotEnrolled,
)  # fmt: skip
ping = operation(
    "second_factors.ping_push", f"GET {_LOGIN}/push/ping", PushPing, FactorLogin, auth=API_KEY, also=("/login/2fa/push/ping",), row="M13",
    errors=_PING_ERRORS,
    summary="Poll for the push answer",
    description="Returns the session once the push notification was approved on the device. Until then it answers error 1295; poll "
    "about every 5 seconds.",
)  # fmt: skip
answer = operation(
    "second_factors.answer_push", f"PUT {_LOGIN}/verification/push", DeviceAnswer, Posted, auth=API_KEY, row="M14",
    errors=(errors.WrongPushToken, errors.PushFailed, errors.PushAnswered, errors.PushDenied),
    summary="Answer a push notification",
    description="Approves or denies a sign-in from the registered device. The device signs the answer with its private key.",
)  # fmt: skip
picture = operation(
    "second_factors.push_picture", f"GET {PICTURE}", EnrolmentPicture, Document, auth=API_KEY, answers=("image/png",),
    errors=(errors.WrongPushToken,),
    summary="Get the QR code for a push device",
    description="Returns a picture of the QR code that registers a device for push notifications. The address is `PushQRCode` of a "
    "challenge.",
)  # fmt: skip
register_device = operation(
    "second_factors.register_device", f"POST {REGISTRATION}", DeviceRegistration, DeviceRegistered, auth=API_KEY,
    errors=(errors.WrongPushToken, errors.PushOff, errors.PushMisconfigured),
    summary="Register a push device",
    description="Registers the device that scanned the QR code: its name, its token for notifications and its public key.",
)  # fmt: skip
remove_push = operation(
    "second_factors.remove_push", f"DELETE {_OWN}/push", AccessTokenQuery, Deleted, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    also=(f"{_OWN}/authenticator/push",), row="M36", errors=(errors.PushOff, errors.PushNotEnrolled),
    summary="Remove the push device",
    description="Removes the registered device from the second factors of the signed-in account.",
)  # fmt: skip
managed_remove_push = operation(
    "second_factors.managed_remove_push", f"DELETE {_MANAGED}/push", ManagedFactor, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=WRITE, row="M44", errors=(*UID_ERRORS, errors.PushNotEnrolled),
    summary="Remove an account’s push device",
    description="Removes the registered device from the second factors of an account.",
)  # fmt: skip
managed_remove_push_older = operation(
    "second_factors.managed_remove_push_older", f"DELETE {_MANAGED}/authenticator/push/{{uid}}", Uid, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=WRITE, row="M44", errors=(*UID_ERRORS, errors.PushNotEnrolled),
    summary="Remove a push device by path",
    description="Removes the registered device from the second factors of an account, which the path names. Existing clients call it; "
    "use `…/2fa/push` in new ones.",
)  # fmt: skip
