"""Second-factor challenges: the response of a login that requires a second factor, and shared parameters."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.error_groups import LOCK_ANSWERS, SESSION_ERRORS
from app.contract.profile import Profile
from app.contract.shared_responses import SmsSent
from app.contract.sign_in.sign_in_operations import Login
from app.kit.operations.wire import From, Lower, Wire

Query = From.QUERY
Code = Annotated[str | None, Field(max_length=64)]
NO_SESSION = "00000000-0000-0000-0000-000000000000"
NO_EXPIRY = "0001-01-01T00:00:00"


class FactorKind(StrEnum):
    """The authenticators, as the store, the hub and the audit trail name them."""

    PASSKEY = "passkey"
    TOTP = "totp"
    PUSH = "push"
    SMS = "sms"
    EMAIL = "email"
    QUESTIONS = "security_questions"
    DUO = "duo"
    BACKUP_CODE = "backup_code"


class Question(Wire):
    question_id: str
    question: str


class EmailSent(Wire):
    email: str


class Factors(Wire):
    """Second factors of an account, and the data that enrols further ones."""

    qr_code: str | None = Field(default=None, alias="QRCode")  # a data URI of the otpauth address
    manual_entry_code: str | None = None
    push_qr_code: str | None = Field(default=None, alias="PushQRCode")
    duo_auth_endpoint: str | None = None
    is_google_authenticator_verified: bool = False
    is_authenticator_verified: bool = False
    is_otp_authenticator_verified: bool = Field(default=False, alias="IsOTPAuthenticatorVerified")
    is_email_otp_authenticator_verified: bool = False
    is_security_question_authenticator_verified: bool = False
    is_push_device_registered: bool = False
    is_duo_authenticator_verified: bool = False
    is_passkey_authenticator_verified: bool = False
    otp_phone_no: str | None = Field(default=None, alias="OTPPhoneNo")
    otp_status: SmsSent | None = Field(default=None, alias="OTPStatus")
    email: list[str] | None = None
    email_otp_status: EmailSent | None = Field(default=None, alias="EmailOTPStatus")
    security_questions: list[Question] | None = None


class Challenge(Factors):
    """A second-factor challenge. `SecondFactorAuthenticationToken` replaces the access token until the sign-in is complete."""

    second_factor_authentication_token: str
    expire_in: str


class FactorLogin(Login):
    """A session, or a challenge if a second factor is needed. Check `SecondFactorAuthentication` first."""

    second_factor_authentication: Challenge | None = None
    profile: Profile | None = None


class AuthenticatorCode(Lower):
    """The code of an authenticator app, under either of its names."""

    authenticator_code: Code = None
    google_authenticator_code: Code = None

    @property
    def code(self) -> str | None:
        return self.authenticator_code or self.google_authenticator_code


class ChallengeToken(Lower):
    """The token of a challenge."""

    second_factor_authentication_token: Annotated[str, Query]


DUO_REDIRECT = (errors.DuoRedirectRefused, errors.MalformedDuoRedirect)
"""Errors of `duoredirecturi`."""

TOKEN_ERRORS = (
    *SESSION_ERRORS,
    *LOCK_ANSWERS,
    errors.UnknownFactorToken,
    errors.ExpiredFactorToken,
    errors.LockedDuringStep,
)
"""Errors of a challenge's token, and of locks."""
