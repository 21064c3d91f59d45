"""Forgotten, reset and changed passwords, and security questions."""

from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREATES_TOKENS, CREDENTIALS, MACHINE_TOKEN, READ
from app.contract.catalogue import HASHES, HASHES_IN_BULK, operation
from app.contract.error_groups import (
    CAPTCHA,
    DIRECTORY_CHANGE,
    EMAIL_CODE,
    LINK,
    LOCK_CHALLENGES,
    NEW_PASSWORD,
    SECURITY_ANSWERS,
    SMS_CODE,
    SMS_SENDING,
    UID_ERRORS,
)
from app.contract.error_profiles import MAIN
from app.contract.shared_parameters import (
    AccessTokenQuery,
    CaptchaSolution,
    LockAnswers,
    PhoneInQuery,
    SecurityAnswer,
    Uid,
    WebhookSuppression,
)
from app.contract.shared_responses import Posted, PostedSms
from app.contract.sign_in.sign_in_operations import Login
from app.kit.operations.operation import Accept
from app.kit.operations.wire import Document, From, Lower, Wire

Query = From.QUERY
Address = Annotated[str | None, Field(max_length=320)]
Secret = Annotated[str | None, Field(max_length=1024)]
Code = Annotated[str | None, Field(max_length=200)]

NAMED = replace(MAIN, bad_put_body=errors.BadPostBody)
"""The two password operations answer an unreadable body with one code, whatever the method."""


class ForgotPassword(WebhookSuppression, CaptchaSolution):
    """Exactly one of email and username."""

    email: Address = None
    username: Address = None
    reset_password_url: Annotated[str | None, Query] = None
    email_template: Annotated[str | None, Query] = None


class Reset(WebhookSuppression, CaptchaSolution, LockAnswers):
    """A link's token, or a code with its email or username."""

    beside_key: ClassVar[tuple[str, ...]] = ("password", "resettoken")  # reported together with a missing API key

    reset_token: Code = None
    email: Address = None
    username: Address = None
    otp: Code = None
    password: Secret = None
    welcome_email_template: str | None = Field(default=None, max_length=200)
    reset_password_email_template: str | None = Field(default=None, max_length=200)


class PasswordReset(Wire):
    """The result of a password reset. `Data` is a session if the tenant signs people in after it."""

    omits_none = True

    is_posted: bool = True
    data: Login | None = None


class ForgotBySms(WebhookSuppression, CaptchaSolution):
    phone: Annotated[str | None, Field(max_length=64)] = None
    sms_template: Annotated[str | None, Query] = None
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


class ResetBySms(WebhookSuppression, CaptchaSolution, LockAnswers):
    phone: Annotated[str | None, Field(max_length=64)] = None
    otp: Code = None
    password: Secret = None
    sms_template: str | None = Field(default=None, max_length=200)
    reset_password_email_template: str | None = Field(default=None, max_length=200)
    reset_password_sms_template: str | None = Field(default=None, max_length=200)


class ResetByAnswer(WebhookSuppression, CaptchaSolution):
    """The answers to all questions of the account, with one of email, username and phone."""

    security_answer: dict[str, SecurityAnswer] | None = Field(default=None, max_length=10)
    password: Secret = None
    email: Address = None
    username: Address = None
    phone: Annotated[str | None, Field(max_length=64)] = None
    reset_password_email_template: str | None = Field(default=None, max_length=200)


class ChangePassword(AccessTokenQuery, WebhookSuppression, CaptchaSolution, LockAnswers):
    old_password: str = Field(max_length=1024)
    new_password: str = Field(max_length=1024)


class QuestionsByEmail(Lower):
    email: Annotated[Address, Query] = None


class QuestionsByUsername(Lower):
    username: Annotated[Address, Query] = None


class QuestionsByPhone(Lower):
    phone: PhoneInQuery = None


class SetPassword(WebhookSuppression, Uid):
    password: Secret = None


class PasswordHash(Wire):
    """Algorithm, parameters, salt and hash, as one text."""

    password_hash: str


class CreateForgotToken(Lower):
    """`sendemail` also emails it."""

    send_email: Annotated[bool, Query] = False
    email_template: Annotated[str | None, Query] = None
    reset_password_url: Annotated[str | None, Query] = None
    email: Address = None
    username: Address = None


class ForgotTokenCreated(Wire):
    forgot_token: str
    identity_providers: list[str]


_FORGOT_ERRORS = (
    *CAPTCHA, errors.MalformedKey, errors.UsernameMissing, errors.EmailOrUsernameMissing, errors.MalformedEmail, errors.NotAuthenticated,
    errors.ResetUrlRefused,
    errors.UnknownAccount, errors.AccountBlocked, errors.MailLimitReached, errors.DirectoryPasswordElsewhere,
)  # fmt: skip
forgot = operation(
    "passwords.forgot", "POST /identity/v2/auth/password", ForgotPassword, Posted, auth=API_KEY, error_profile=NAMED, accepts=Accept.JSON,
    row="U33", errors=_FORGOT_ERRORS,
    summary="Start a password reset by email",
    description="Emails a link or a code that resets the password of the account that `email` or `username` names. A newer link or "
    "code replaces the earlier one. Requests are limited for each address and account.",
)  # fmt: skip
_RESET_ERRORS = (
    *NEW_PASSWORD[1:], *LOCK_CHALLENGES, *EMAIL_CODE, *LINK, errors.MalformedKey, errors.UsernameMissing, errors.MalformedEmail,
    errors.EmailMissing,
    errors.NotAuthenticated, errors.NoEmailProfile, errors.UnknownAccount, errors.PrivacyPolicyOutdated, errors.FieldsRefused.at(400),
    errors.EmailOrPhoneMissing.at(400),
)  # fmt: skip
reset = operation(
    "passwords.reset", "PUT /identity/v2/auth/password", Reset, PasswordReset, auth=API_KEY, error_profile=NAMED,
    also=("/identity/v2/auth/password/reset",), accepts=Accept.JSON, heavy_work=HASHES, row="U34", errors=_RESET_ERRORS,
    summary="Finish a password reset by email",
    description="Sets a new password, either with the `resettoken` of an emailed link or with an emailed code and the email address "
    "or username. Sessions and tokens of the account end. `Data` is a new session if the tenant signs accounts in after a "
    "reset.",
)  # fmt: skip
_FORGOT_BY_SMS_ERRORS = (
    *SMS_SENDING, *CAPTCHA, errors.UnknownAccount, errors.UnknownPhone, errors.PhoneMissing, errors.PhoneUnverified, errors.PhoneLoginOff,
    errors.AccountBlocked,
)  # fmt: skip
forgot_by_sms = operation(
    "passwords.forgot_by_sms", "POST /identity/v2/auth/password/otp", ForgotBySms, PostedSms, auth=API_KEY, row="U35",
    errors=_FORGOT_BY_SMS_ERRORS,
    summary="Start a password reset by text message",
    description="Texts a code that resets the password of the account with this phone number.",
)  # fmt: skip
_RESET_BY_SMS_ERRORS = (
    *LOCK_CHALLENGES, *SMS_CODE, *NEW_PASSWORD, errors.PhoneMissing, errors.PhoneLoginOff, errors.UnknownPhone, errors.UnknownAccount,
    errors.NoEmailProfile,
)  # fmt: skip
reset_by_sms = operation(
    "passwords.reset_by_sms", "PUT /identity/v2/auth/password/otp", ResetBySms, PasswordReset, auth=API_KEY, heavy_work=HASHES, row="U36",
    errors=_RESET_BY_SMS_ERRORS,
    summary="Finish a password reset by text message",
    description="Sets a new password with a texted code. Sessions and tokens of the account end.",
)  # fmt: skip
reset_by_answer = operation(
    "passwords.reset_by_answer", "PUT /identity/v2/auth/password/securityanswer", ResetByAnswer, PasswordReset,
    auth=API_KEY, heavy_work=HASHES,
    row="U37", errors=(*SECURITY_ANSWERS, *NEW_PASSWORD, *CAPTCHA, errors.UnknownAccount, errors.AccountBlocked, errors.MalformedEmail),
    summary="Reset a password with security answers",
    description="Sets a new password with the answers to all security questions of the account. Get the questions from `GET "
    "/identity/v2/auth/securityquestion/email` first.",
)  # fmt: skip
change = operation(
    "passwords.change", "PUT /identity/v2/auth/password/change", ChangePassword, Posted, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, heavy_work=HASHES,
    row="U32",
    errors=(
        *LOCK_CHALLENGES, *NEW_PASSWORD, *DIRECTORY_CHANGE, errors.WrongCurrentPassword, errors.UnknownUid, errors.PrivacyPolicyOutdated,
    ),
    summary="Change the password",
    description="Replaces the password of the signed-in account. It needs the current password. Every other session and token of the "
    "account ends.",
)  # fmt: skip

_LOOKUP_ERRORS = (errors.UnknownAccount, errors.NoSecurityAnswers, errors.SecurityQuestionsOff)
_QUESTIONS = "/identity/v2/auth/securityquestion"
questions_by_email = operation(
    "passwords.questions_by_email", f"GET {_QUESTIONS}/email", QuestionsByEmail, Document, auth=API_KEY, row="U38",
    errors=(*_LOOKUP_ERRORS, errors.MalformedEmail, errors.UsernameLookupOnly),
    summary="List an account’s security questions by email",
    description="Returns the security questions that the account with this email address answered, to reset its password. The answers "
    "aren’t returned.",
)  # fmt: skip
questions_by_username = operation(
    "passwords.questions_by_username", f"GET {_QUESTIONS}/username", QuestionsByUsername, Document, auth=API_KEY, row="U39",
    errors=(*_LOOKUP_ERRORS, errors.UsernameMissing),
    summary="List an account’s security questions by username",
    description="Returns the security questions that the account with this username answered, to reset its password. The answers "
    "aren’t returned.",
)  # fmt: skip
questions_by_phone = operation(
    "passwords.questions_by_phone", f"GET {_QUESTIONS}/phone", QuestionsByPhone, Document, auth=API_KEY, row="U40",
    errors=(*_LOOKUP_ERRORS, errors.PhoneMissing, errors.UsernameLookupOnly),
    summary="List an account’s security questions by phone",
    description="Returns the security questions that the account with this phone number answered, to reset its password. The answers "
    "aren’t returned.",
)  # fmt: skip
own_questions = operation(
    "passwords.own_questions", f"GET {_QUESTIONS}/accesstoken", AccessTokenQuery, Document, auth=API_KEY & ACCESS_TOKEN,
    access=READ, row="U41", errors=(*_LOOKUP_ERRORS, errors.PrivacyPolicyOutdated),
    summary="List the account’s security questions",
    description="Returns the security questions that the signed-in account answered. The answers aren’t returned.",
)  # fmt: skip

read_hash = operation(
    "passwords.read_hash", "GET /identity/v2/manage/account/{uid}/password", Uid, PasswordHash, auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="password:read", row="A15", errors=(*UID_ERRORS, errors.NoEmailProfile),
    summary="Get an account’s password hash",
    description="Returns the hash of an account’s password with its algorithm, parameters and salt, for example to move the account "
    "to another system.",
)  # fmt: skip
set_password = operation(
    "passwords.set", "PUT /identity/v2/manage/account/{uid}/password", SetPassword, PasswordHash,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:update",
    heavy_work=HASHES_IN_BULK, row="A16", errors=(*NEW_PASSWORD, *UID_ERRORS, errors.NoEmailProfile),
    summary="Set an account’s password",
    description="Sets the password of an account without the current one. Sessions and tokens of the account end. The password policy "
    "applies.",
)  # fmt: skip
_FORGOT_TOKEN_ERRORS = (
    errors.UnknownAccount, errors.UsernameMissing, errors.EmailOrUsernameMissing, errors.MalformedEmail, errors.ResetUrlRefused,
    errors.TokenLimitReached,
    errors.MailLimitReached,
)  # fmt: skip
forgot_token = operation(
    "passwords.forgot_token", "POST /identity/v2/manage/account/forgot/token", CreateForgotToken, ForgotTokenCreated,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=CREATES_TOKENS, row="A17", errors=_FORGOT_TOKEN_ERRORS,
    summary="Create a password reset token",
    description="Returns a token that resets a password with `PUT /identity/v2/auth/password`, to deliver it in your own message. "
    "With `sendemail=true` Gatehouse emails it as well.",
)  # fmt: skip
