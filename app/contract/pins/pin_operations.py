"""PINs: sign-in, set, change and reset."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, CREDENTIALS
from app.contract.catalogue import HASHES, operation
from app.contract.error_groups import (
    EMAIL_CODE,
    LOCK_CHALLENGES,
    LOCKS,
    SECURITY_ANSWERS,
    SESSION_ERRORS,
    SMS_CODE,
    SMS_SENDING,
)
from app.contract.recovery.recovery_operations import Address, Code, Query
from app.contract.second_factors.challenge import FactorLogin
from app.contract.shared_parameters import (
    AccessTokenQuery,
    CaptchaSolution,
    FieldSelection,
    LockAnswers,
    SecondFactorOptions,
    SecurityAnswer,
    WebhookSuppression,
)
from app.contract.shared_responses import Posted, PostedSms
from app.contract.sign_in.sign_in_operations import Login
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Lower

Pin = Annotated[str | None, Field(max_length=64)]
Phone = Annotated[str | None, Field(max_length=64)]
Token = Annotated[str | None, Query, Field(max_length=500)]
_PINS = "/identity/v2/auth/pin"


class PinLogin(FieldSelection, WebhookSuppression, SecondFactorOptions):
    """`session_token` is from an earlier sign-in and works once; the response has the next one."""

    session_token: Token = Field(default=None, alias="session_token")
    pin: Pin = None


class EndPinSession(Lower):
    session_token: Token = Field(default=None, alias="session_token")


class SetPinAtLogin(WebhookSuppression):
    pin_auth_token: Token = None
    pin: Pin = None


class ChangePin(AccessTokenQuery, WebhookSuppression):
    old_pin: Pin = None
    new_pin: Pin = None


class _ForgotByMail(Lower):
    email_template: Annotated[str | None, Query, Field(max_length=100)] = None
    reset_pin_url: Annotated[str | None, Query, Field(max_length=2_000)] = None


class ForgotPinByEmail(_ForgotByMail):
    email: Address = None


class ForgotPinByUsername(_ForgotByMail):
    username: Address = None


class ForgotPinBySms(Lower):
    phone: Phone = None
    sms_template: Annotated[str | None, Query, Field(max_length=100)] = None
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


class ResetPinByToken(WebhookSuppression):
    pin: Pin = None
    reset_token: Code = None


class ResetPinByCode(WebhookSuppression, CaptchaSolution, LockAnswers):
    """Exactly one identifier; any is accepted, independent of `type`."""

    type: Annotated[Literal["email", "phone", "username"], From.PATH]
    pin: Pin = None
    otp: Code = None
    email: Address = None
    phone: Phone = None
    username: Address = None


class ResetPinByAnswer(WebhookSuppression):
    """The answers to all questions of the account."""

    pin: Pin = None
    security_answer: dict[str, SecurityAnswer] | None = Field(default=None, max_length=10)


class ResetPinByAnswerAndEmail(ResetPinByAnswer):
    email: Address = None


class ResetPinByAnswerAndPhone(ResetPinByAnswer):
    phone: Phone = None


class ResetPinByAnswerAndUsername(ResetPinByAnswer):
    username: Address = None


PIN_ERRORS = (errors.PinOff, errors.NoPin)
PIN_SIGN_IN = (*SESSION_ERRORS, errors.LockedDuringStep, errors.EmailUnverified, errors.PhoneUnverified)

with_pin = operation(
    "pins.with_pin", "POST /identity/v2/auth/login/pin", PinLogin, FactorLogin, auth=API_KEY, heavy_work=HASHES, row="U67",
    errors=(*PIN_ERRORS, *PIN_SIGN_IN, errors.PinLoginOff, errors.UnknownSessionToken, errors.ExpiredSessionToken, errors.WrongPin),
    summary="Sign in with a PIN",
    description="Signs in again with a PIN and the `session_token` of an earlier sign-in on the same device, and returns a session, "
    "or a challenge if a second factor is needed.",
)  # fmt: skip
end_session = operation(
    "pins.end_session", "GET /identity/v2/auth/session_token/invalidate", EndPinSession, Posted, auth=API_KEY, row="U46",
    errors=(errors.UnknownSessionToken, errors.ExpiredSessionToken),
    summary="End a PIN session",
    description="Ends a PIN session. Its `session_token` can’t be used anymore.",
)  # fmt: skip
set_first = operation(
    "pins.set_first", f"POST {_PINS}/set/pinauthtoken", SetPinAtLogin, Login, auth=API_KEY, heavy_work=HASHES, row="U68",
    errors=(
        *PIN_SIGN_IN, errors.PinOff, errors.UnknownPinToken, errors.ExpiredPinToken, errors.PinMissing, errors.TwoFactorOn,
    ),
    summary="Set the first PIN",
    description="Sets the PIN that a sign-in asked for with error 1243, and finishes that sign-in: the response is a session. "
    "`pinauthtoken` is the `PINAuthToken` in the error’s `Data`.",
)  # fmt: skip
change = operation(
    "pins.change", f"PUT {_PINS}/change", ChangePin, Posted, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    also=(f"POST {_PINS}/change",),
    heavy_work=HASHES, row="U69", errors=(*PIN_ERRORS, *LOCKS, errors.WrongCurrentPin, errors.LockedDuringStep),
    summary="Change the PIN",
    description="Replaces the PIN of the signed-in account. It needs the current PIN.",
)  # fmt: skip

_MAILED = (
    *PIN_ERRORS,
    errors.UnknownAccount,
    errors.AccountBlocked,
    errors.PinUrlRefused,
    errors.MailLimitReached,
    errors.TooManyRequests,
)
forgot_by_email = operation(
    "pins.forgot_by_email", f"POST {_PINS}/forgot/email", ForgotPinByEmail, Posted, auth=API_KEY, row="U70",
    errors=(*_MAILED, errors.MalformedEmail),
    summary="Email a PIN reset",
    description="Emails a link or a code that resets a forgotten PIN, to the account with this email address.",
)  # fmt: skip
forgot_by_username = operation(
    "pins.forgot_by_username", f"POST {_PINS}/forgot/username", ForgotPinByUsername, Posted, auth=API_KEY, accepts=Accept.JSON, row="U71",
    errors=(*_MAILED, errors.UnknownUsername),
    summary="Email a PIN reset by username",
    description="Emails a link or a code that resets a forgotten PIN, to the account with this username.",
)  # fmt: skip
forgot_by_sms = operation(
    "pins.forgot_by_sms", f"POST {_PINS}/forgot/otp", ForgotPinBySms, PostedSms, auth=API_KEY, accepts=Accept.JSON, row="U72",
    errors=(*PIN_ERRORS, *SMS_SENDING, errors.NotAuthenticated, errors.UnknownPhone, errors.AccountBlocked, errors.TooManyRequests),
    summary="Text a PIN reset code",
    description="Texts a code that resets a forgotten PIN, to the account with this phone number.",
)  # fmt: skip

_NEW = (errors.PinOff, errors.NoPin, errors.AccountBlocked, errors.TooManyRequests)
reset_by_token = operation(
    "pins.reset_by_token", f"PUT {_PINS}/reset/token", ResetPinByToken, Posted, auth=API_KEY, heavy_work=HASHES, row="U73",
    errors=(*_NEW, errors.UnknownLink, errors.ExpiredLink, errors.UsedPinLink),
    summary="Reset a PIN with a link",
    description="Sets a new PIN with the token of an emailed link, which works once.",
)  # fmt: skip
reset_by_code = operation(
    "pins.reset_by_code", f"PUT {_PINS}/reset/otp/{{type}}", ResetPinByCode, Posted, auth=API_KEY, accepts=Accept.JSON, heavy_work=HASHES,
    row="U74", errors=(*_NEW, *LOCK_CHALLENGES, *SMS_CODE, *EMAIL_CODE, errors.UnknownAccount, errors.MalformedEmail),
    summary="Reset a PIN with a code",
    description="Sets a new PIN with an emailed or texted code. `type` in the path is `email`, `phone` or `username`: what names the "
    "account in the body.",
)  # fmt: skip
_ANSWERED = (*_NEW, *SECURITY_ANSWERS, errors.UnknownAccount, errors.MalformedEmail)
_BY_ANSWER = f"PUT {_PINS}/reset/securityanswer"
reset_by_answer_and_email = operation(
    "pins.reset_by_answer_and_email", f"{_BY_ANSWER}/email", ResetPinByAnswerAndEmail, Posted, auth=API_KEY, heavy_work=HASHES, row="U75",
    errors=_ANSWERED,
    summary="Reset a PIN with security answers",
    description="Sets a new PIN with the answers to all security questions of the account that `email` names.",
)  # fmt: skip
reset_by_answer_and_phone = operation(
    "pins.reset_by_answer_and_phone", f"{_BY_ANSWER}/phone", ResetPinByAnswerAndPhone, Posted, auth=API_KEY, heavy_work=HASHES, row="U76",
    errors=_ANSWERED,
    summary="Reset a PIN with security answers and phone",
    description="Sets a new PIN with the answers to all security questions of the account that `phone` names.",
)  # fmt: skip
reset_by_answer_and_username = operation(
    "pins.reset_by_answer_and_username", f"{_BY_ANSWER}/username", ResetPinByAnswerAndUsername, Posted, auth=API_KEY,
    heavy_work=HASHES, row="U77", errors=_ANSWERED,
    summary="Reset a PIN with security answers and username",
    description="Sets a new PIN with the answers to all security questions of the account that `username` names.",
)  # fmt: skip
