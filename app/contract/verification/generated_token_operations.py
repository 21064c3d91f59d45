"""Tokens and codes that a tenant's server delivers itself.

Each equals the one in the email or text message; nothing is sent.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import API_KEY, API_SECRET, CREATES_TOKENS, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_groups import ADDED_EMAIL, UID_ERRORS
from app.kit.operations.wire import From, Lower, Wire

Query = From.QUERY
Address = Annotated[str | None, Field(max_length=320)]
DAY = 86_400


class VerificationTokenRequest(Lower):
    email: Address = None


class VerificationTokenQuery(Lower):
    """`expires_in`: the lifetime in seconds; absent: that of an emailed one."""

    email: Annotated[Address, Query] = None
    vtype: Annotated[str, Query] = "email"
    expires_in: Annotated[int | None, Query] = Field(default=None, ge=60, le=3 * DAY, alias="expires_in")


class VerificationToken(Wire):
    """A token that verifies an email address. `expires_in` is an ISO 8601 date-time."""

    verification_token: str
    expires_in: str = Field(alias="expires_in")


class EmailTokenRequest(Lower):
    """The account: one of `email`, `username` and `uid`; `addemail` takes `uid`, the new `email` and its `type`."""

    token_type: Annotated[str, From.PATH]
    email: Address = None
    username: Address = None
    uid: str | None = Field(default=None, max_length=100)
    type: str | None = Field(default=None, max_length=50)
    client_guid: str | None = Field(default=None, max_length=100)
    name: str | None = Field(default=None, max_length=100)


class EmailToken(Wire):
    """A code instead of the token if the tenant's emails of that type contain codes."""

    token: str
    expires_in: str
    identity_providers: list[str]


class SmsCodeRequest(Lower):
    sms_otp_type: Annotated[str, From.PATH]
    phone: str | None = Field(default=None, max_length=64)
    uid: str | None = Field(default=None, max_length=100)
    name: str | None = Field(default=None, max_length=100)
    client_guid: str | None = Field(default=None, max_length=100)  # smartlogin: which device the code approves


class SmsCode(Wire):
    token: str
    expires_in: str


_OFF = (errors.PasswordlessOff, errors.SmartLoginOff, errors.OneTouchOff, errors.PinOff, errors.NoPin)
_VERIFY = (
    errors.UnknownAccount, errors.EmailVerifiedBefore, errors.EmailVerificationOff, errors.TokenLimitReached, errors.MalformedEmail,
    errors.EmailMissing,
)  # fmt: skip
_BASE = "/identity/v2/manage/account"

verify_token = operation(
    "generated_tokens.verify_token", f"POST {_BASE}/verify/token", VerificationTokenRequest, VerificationToken,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=CREATES_TOKENS, row="A18", errors=_VERIFY,
    summary="Create an email verification token",
    description="Returns a token that verifies an email address, to deliver it in your own message. Nothing is sent.",
)  # fmt: skip
read_verify_token = operation(
    "generated_tokens.read_verify_token", f"GET {_BASE}/vtoken", VerificationTokenQuery, VerificationToken,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=CREATES_TOKENS, row="A19", errors=_VERIFY,
    summary="Create an email verification token with a lifetime",
    description="Returns a token that verifies an email address, with a lifetime of your choice. Nothing is sent.",
)  # fmt: skip
_MAIL_TOKEN_ERRORS = (
    *_VERIFY, *_OFF, *ADDED_EMAIL, *UID_ERRORS, errors.WrongTokenType, errors.EmailOrUsernameMissing, errors.ClientGuidTaken,
    errors.RegistrationOff,
)  # fmt: skip
mail_token = operation(
    "generated_tokens.mail_token", f"POST {_BASE}/emailtoken/{{tokentype}}", EmailTokenRequest, EmailToken,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=CREATES_TOKENS, row="A20", errors=_MAIL_TOKEN_ERRORS,
    summary="Create a token for your own email",
    description="Returns the token or the code that an email of the type in the path would contain, to deliver it in your own "
    "message. Nothing is sent.",
)  # fmt: skip
_SMS_CODE_ERRORS = (
    *_OFF, *UID_ERRORS, errors.WrongCodeType, errors.UnknownPhone, errors.PhoneLoginOff, errors.CodeLimitReached,
    errors.PhoneVerifiedBefore, errors.PhoneMissing,
    errors.NoPhoneOnProfile, errors.PhoneTaken, errors.PhoneUnverified, errors.ClientGuidTaken, errors.RegistrationOff,
)  # fmt: skip
sms_code = operation(
    "generated_tokens.sms_code", f"POST {_BASE}/smsotp/{{smsotptype}}", SmsCodeRequest, SmsCode,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=CREATES_TOKENS, row="A21", errors=_SMS_CODE_ERRORS,
    summary="Create a code for your own text message",
    description="Returns the code that a text message of the type in the path would contain, to deliver it in your own message. "
    "Nothing is sent.",
)  # fmt: skip
