"""Sign-in by a link or a code from a mail, and by a code from a text message."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import API_KEY
from app.contract.catalogue import HASHES_SECRETS, operation
from app.contract.error_groups import (
    CONTACT_TAKEN,
    EMAIL_CODE,
    EMAIL_SENDING,
    IDENTIFIER_KINDS,
    LOCK_CHALLENGES,
    SESSION_ERRORS,
    SMS_CODE,
    SMS_SENDING,
)
from app.contract.second_factors.challenge import DUO_REDIRECT, FactorLogin
from app.contract.shared_parameters import (
    CaptchaSolution,
    CaptchaSolutionQuery,
    FieldSelection,
    LockAnswers,
    PhoneInQuery,
    SecondFactorOptions,
    WebhookSuppression,
)
from app.contract.shared_responses import Posted, PostedSms
from app.kit.operations.wire import From, Lower

Query = From.QUERY
Address = Annotated[str | None, Query, Field(max_length=320)]
Named = Annotated[str | None, Field(max_length=320)]
Name = Annotated[str | None, Query, Field(max_length=100)]
Code = Annotated[str | None, Field(max_length=64)]
Url = Annotated[str | None, Query, Field(max_length=2_000)]


class SendLoginEmail(WebhookSuppression, CaptchaSolutionQuery):
    """Exactly one of email and username."""

    email: Address = None
    username: Address = None
    passwordless_login_template: Name = None
    verification_url: Url = None


class SignInParameters(FieldSelection, SecondFactorOptions):
    """Parameters of every operation that signs in."""


class LoginByLink(SignInParameters, WebhookSuppression):
    verification_token: Annotated[str | None, Query, Field(max_length=1_000)] = None
    welcome_email_template: Name = None


class LoginByEmailCode(SignInParameters, WebhookSuppression, CaptchaSolution, LockAnswers):
    email: Named = None
    otp: Code = None
    welcome_email_template: Annotated[str | None, Field(max_length=100)] = None


class LoginByUsernameCode(SignInParameters, WebhookSuppression, CaptchaSolution, LockAnswers):
    username: Named = None
    otp: Code = None
    welcome_email_template: Annotated[str | None, Field(max_length=100)] = None


class SendLoginSms(CaptchaSolutionQuery):
    phone: Annotated[PhoneInQuery, Field(max_length=64)] = None
    sms_template: Name = None
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


class LoginBySmsCode(SignInParameters, WebhookSuppression, CaptchaSolution, LockAnswers):
    phone: Annotated[str | None, Field(max_length=64)] = None
    otp: Code = None
    sms_template: Name = None


class LoginSmsOptions(Lower):
    """Options of a text message."""

    sms_template: Name = None
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


SIGN_IN_ERRORS = (*DUO_REDIRECT, *LOCK_CHALLENGES, *SESSION_ERRORS, errors.TwoFactorOn, errors.PhoneUnverified)
"""The account may not sign in although the credential is valid."""
_PATH = "/identity/v2/auth/login/passwordlesslogin"

_SEND_MAIL_ERRORS = (
    *IDENTIFIER_KINDS, *EMAIL_SENDING, errors.PasswordlessOff, errors.UnknownAccount, errors.MalformedEmail, errors.UsernameMissing,
    errors.EmailOrUsernameMissing, errors.AccountBlocked, errors.TooManyRequests,
)  # fmt: skip
send_mail = operation(
    "passwordless.send_mail", f"GET {_PATH}/email", SendLoginEmail, Posted, auth=API_KEY, row="U49", errors=_SEND_MAIL_ERRORS,
    summary="Send a sign-in email",
    description="Emails a link or a code that signs in without a password, to the account that `email` or `username` names. Requests "
    "are limited for each address and account.",
)  # fmt: skip
_BY_LINK_ERRORS = (
    *SIGN_IN_ERRORS, *CONTACT_TAKEN, errors.PasswordlessOff, errors.WrongVerificationLink, errors.UnknownLink, errors.ExpiredLink,
    errors.UsedPasswordlessLink,
    errors.TooManyRequests,
)  # fmt: skip
by_link = operation(
    "passwordless.by_link", f"GET {_PATH}/email/verify", LoginByLink, FactorLogin, auth=API_KEY, row="U50", errors=_BY_LINK_ERRORS,
    summary="Sign in with an emailed link",
    description="Signs in with the token of an emailed link and returns a session, or a challenge if a second factor is needed. The "
    "link works once; a HEAD request doesn’t use it up.",
)  # fmt: skip
_BY_CODE = (
    *SIGN_IN_ERRORS,
    *IDENTIFIER_KINDS,
    *CONTACT_TAKEN,
    errors.PasswordlessOff,
    errors.UnknownAccount,
    errors.TooManyRequests,
)
by_email_code = operation(
    "passwordless.by_email_code", f"POST {_PATH}/email/verifyotp", LoginByEmailCode, FactorLogin, auth=API_KEY, heavy_work=HASHES_SECRETS,
    row="U51", errors=(*_BY_CODE, *EMAIL_CODE, errors.MalformedEmail),
    summary="Sign in with an emailed code",
    description="Signs in with an emailed code and the email address, and returns a session, or a challenge if a second factor is "
    "needed. After several wrong codes the code stops working.",
)  # fmt: skip
by_username_code = operation(
    "passwordless.by_username_code", f"POST {_PATH}/username/verifyotp", LoginByUsernameCode, FactorLogin, auth=API_KEY,
    heavy_work=HASHES_SECRETS, row="U52", errors=(*_BY_CODE, *EMAIL_CODE, errors.UsernameMissing),
    summary="Sign in with a code and username",
    description="Signs in with an emailed code and the username, and returns a session, or a challenge if a second factor is needed.",
)  # fmt: skip
_SEND_SMS_ERRORS = (
    *SMS_SENDING, *IDENTIFIER_KINDS, errors.PasswordlessOff, errors.UnknownAccount, errors.UnknownPhone, errors.PhoneMissing,
    errors.PhoneUnverified,
    errors.AccountBlocked, errors.TooManyRequests,
)  # fmt: skip
send_sms = operation(
    "passwordless.send_sms", f"GET {_PATH}/otp", SendLoginSms, PostedSms, auth=API_KEY, row="U53", errors=_SEND_SMS_ERRORS,
    summary="Text a sign-in code",
    description="Texts a code that signs in without a password, to an account’s verified phone number.",
)  # fmt: skip
by_sms_code = operation(
    "passwordless.by_sms_code", f"PUT {_PATH}/otp/verify", LoginBySmsCode, FactorLogin, auth=API_KEY, heavy_work=HASHES_SECRETS, row="U54",
    errors=(*_BY_CODE, *SMS_CODE, errors.UnknownPhone, errors.PhoneMissing),
    summary="Sign in with a texted code",
    description="Signs in with a texted code and the phone number, and returns a session, or a challenge if a second factor is "
    "needed.",
)  # fmt: skip
