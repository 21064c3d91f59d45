"""Sign-in with a password."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import API_KEY
from app.contract.catalogue import HASHES, operation
from app.contract.error_groups import (
    DIRECTORY_ACCOUNT,
    IDENTIFIER_KINDS,
    LOCK_CHALLENGES,
    NEW_ORIGIN,
    SESSION_ERRORS,
    SMS_SENDING,
)
from app.contract.profile import Profile
from app.contract.shared_parameters import (
    CaptchaSolution,
    FieldSelection,
    LockAnswers,
    RiskMessageTemplates,
    SecondFactorOptions,
    SuppressedMessages,
    Template,
    WebhookSuppression,
)
from app.kit.operations.wire import From, Wire

Query = From.QUERY


class PasswordLogin(
    FieldSelection,
    WebhookSuppression,
    CaptchaSolution,
    LockAnswers,
    SecondFactorOptions,
    SuppressedMessages,
    RiskMessageTemplates,
):
    """Exactly one of email, username and phone."""

    email: str | None = Field(default=None, max_length=320)
    username: str | None = Field(default=None, max_length=320)
    phone: str | None = Field(default=None, max_length=64)
    password: str = Field(max_length=1024)
    login_url: Annotated[str | None, Query, Field(max_length=2_000)] = None
    password_delegation: Annotated[bool, Query] = False
    verification_url: Annotated[str | None, Query] = None
    email_template: Annotated[str | None, Query] = None
    sms_template: Annotated[str | None, Query] = None
    rba_one_click_email_template: Template = Field(default=None, alias="rbaoneclickemailtemplate")
    rba_otp_sms_template: Template = Field(default=None, alias="rbaotpsmstemplate")


class Login(Wire):
    """A session: the profile and its tokens. `expires_in` is an ISO 8601 date-time. `session_token` is for the next sign-in with
    a PIN, if the tenant has PIN sign-ins.
    """

    omits_none = True
    omitted_if_none = frozenset({"session_token", "session_expires_in"})

    profile: Profile | None = None
    access_token: str = Field(alias="access_token")
    refresh_token: str | None = Field(default=None, alias="refresh_token")
    expires_in: str = Field(alias="expires_in")
    session_token: str | None = Field(default=None, alias="session_token")
    session_expires_in: str | None = Field(default=None, alias="session_expires_in")


RISK_ERRORS = (
    *NEW_ORIGIN, errors.RiskAsksQuestions, errors.RiskMailedCode, errors.RiskTextedCode,
)  # fmt: skip
LOGIN_ERRORS = (
    *RISK_ERRORS, *LOCK_CHALLENGES, *SESSION_ERRORS, *SMS_SENDING, *IDENTIFIER_KINDS, errors.UnknownAccount, errors.WrongCredentials,
    errors.EmailUnverified, errors.PhoneUnverified, errors.MalformedEmail, errors.MalformedPhone, errors.PasswordBreached,
    errors.PasswordResetMailed,
    errors.MailLimitReached, errors.DelegationFailed, *DIRECTORY_ACCOUNT,
)  # fmt: skip

with_password = operation(
    "sign_in.with_password", "POST /identity/v2/auth/login", PasswordLogin, Login, auth=API_KEY, heavy_work=HASHES, row="U12",
    errors=(*LOGIN_ERRORS, errors.TwoFactorOn),
    summary="Sign in with a password",
    description="Signs an account in with its password and exactly one of `email`, `username` and `phone`, and returns a session: "
    "access token, refresh token and profile. Use it for your own sign-in page when the tenant doesn’t use second "
    "factors; with second factors on, call `POST /identity/v2/auth/login/2fa` instead.\n\nA wrong password counts toward the "
    "lockout. If the account is locked, the error says what unlocks it: waiting, a captcha, or a security question. If consent, "
    "the privacy notice or a PIN is still missing, the error’s `Data` contains the token for that step.",
)  # fmt: skip
