"""Forgotten, reset and changed passwords, and security questions (interface user.md sections 4 and 5, account.md section 4)."""

from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from app.contract import errors as e
from app.contract.auth import CREDENTIALS, READ, K, M, S, U
from app.contract.error_profiles import MAIN
from app.contract.groups import AT, CAP, LOCK, PW, UID_REFUSALS, PhoneInQuery, Posted, PostedSms, SecurityAnswer, Uid
from app.contract.hashing import HASHES, HASHES_IN_BULK
from app.contract.operations import operation
from app.contract.sign_in import Login
from app.kit.operation import Accept
from app.kit.wire import Document, From, Lower, Wire

Query = From.QUERY
Address = Annotated[str | None, Field(max_length=320)]
Secret = Annotated[str | None, Field(max_length=1024)]
Code = Annotated[str | None, Field(max_length=200)]

NAMED = replace(MAIN, bad_put_body=e.BadPostBody)
"""The seed has one name, and so one number, for an unreadable body of the two password operations (errors.md section 5)."""

NEW_PASSWORD = (e.FieldsRefused, e.WeakPassword, e.PasswordNotAcceptable, e.NewPasswordBreached)
LOCKED = (
    e.AccountBlocked, e.LockedForAWhile, e.LockedForCaptcha, e.LockedForSecurityQuestion, e.LockedDuringStep,
    e.UnknownSecurityQuestion, e.WrongQuestionOrAnswer, e.WrongSecurityAnswer, e.WrongCaptcha, e.WrongSecondCaptcha,
)  # fmt: skip
LINK = (e.UnknownLink, e.UsedLink, e.ExpiredLink)
MAIL_CODE = (e.WrongMailCode, e.UsedMailCode, e.ExpiredMailCode, e.ClosedMailCode)
SMS_CODE = (e.WrongSmsCode, e.UsedSmsCode, e.ExpiredSmsCode, e.ClosedSmsCode)
CAPTCHA = (e.WrongCaptcha, e.WrongSecondCaptcha)
SENT_SMS = (e.NoSmsConfiguration, e.VoiceOtpOff, e.SmsLimitReached, e.SharedSmsLimitReached)


class Forgot(PW, CAP):
    """Exactly one of email and username."""

    email: Address = None
    username: Address = None
    reset_password_url: Annotated[str | None, Query] = None
    email_template: Annotated[str | None, Query] = None


class Reset(PW, CAP, LOCK):
    """A link's token, or a code with the email or the username that it was asked for."""

    beside_key: ClassVar[tuple[str, ...]] = ("password", "resettoken")  # named with a missing API key

    reset_token: Code = None
    email: Address = None
    username: Address = None
    otp: Code = None
    password: Secret = None
    welcome_email_template: str | None = Field(default=None, max_length=200)
    reset_password_email_template: str | None = Field(default=None, max_length=200)


class PasswordReset(Wire):
    """`Data` is a session where the tenant signs people in who reset their password."""

    sparse = True

    is_posted: bool = True
    data: Login | None = None


class ForgotBySms(PW, CAP):
    phone: Annotated[str | None, Field(max_length=64)] = None
    sms_template: Annotated[str | None, Query] = None
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


class ResetBySms(PW, CAP, LOCK):
    phone: Annotated[str | None, Field(max_length=64)] = None
    otp: Code = None
    password: Secret = None
    sms_template: str | None = Field(default=None, max_length=200)
    reset_password_email_template: str | None = Field(default=None, max_length=200)
    reset_password_sms_template: str | None = Field(default=None, max_length=200)


class ResetByAnswer(PW, CAP):
    """Every question that the account answered, with one of email, username and phone."""

    security_answer: dict[str, SecurityAnswer] | None = Field(default=None, max_length=10)
    password: Secret = None
    email: Address = None
    username: Address = None
    phone: Annotated[str | None, Field(max_length=64)] = None
    reset_password_email_template: str | None = Field(default=None, max_length=200)


class ChangePassword(AT, PW, CAP, LOCK):
    old_password: str = Field(max_length=1024)
    new_password: str = Field(max_length=1024)


class QuestionsByEmail(Lower):
    email: Annotated[Address, Query] = None


class QuestionsByUsername(Lower):
    username: Annotated[Address, Query] = None


class QuestionsByPhone(Lower):
    phone: PhoneInQuery = None


class OwnQuestions(AT):
    pass


class ReadHash(Uid):
    pass


class SetPassword(PW, Uid):
    password: Secret = None


class PasswordHash(Wire):
    """An opaque text: algorithm, parameters, salt and digest."""

    password_hash: str


class ForgotToken(Lower):
    """`sendemail` mails it, too."""

    send_email: Annotated[bool, Query] = False
    email_template: Annotated[str | None, Query] = None
    reset_password_url: Annotated[str | None, Query] = None
    email: Address = None
    username: Address = None


class ForgotTokenMade(Wire):
    forgot_token: str
    identity_providers: list[str]


forgot = operation(
    "passwords.forgot", "POST /identity/v2/auth/password", Forgot, Posted, auth=K, error_profile=NAMED, accepts=Accept.JSON, row="U33",
    errors=(
        e.MalformedKey, e.UsernameMissing, e.EmailOrUsernameMissing, e.MalformedEmail, e.NotAuthenticated, *CAPTCHA, e.ResetUrlRefused,
        e.UnknownAccount, e.AccountBlocked, e.MailLimitReached,
    ),
    summary="Email a link or a code that resets a forgotten password.",
)  # fmt: skip
reset = operation(
    "passwords.reset", "PUT /identity/v2/auth/password", Reset, PasswordReset, auth=K, error_profile=NAMED,
    also=("/identity/v2/auth/password/reset",), accepts=Accept.JSON, hashing=HASHES, row="U34",
    errors=(
        e.MalformedKey, e.FieldsRefused.at(400), *NEW_PASSWORD[1:], e.UsernameMissing, e.MalformedEmail, e.EmailMissing,
        e.EmailOrPhoneMissing.at(400), e.NotAuthenticated, e.NoEmailProfile, *LOCKED, *MAIL_CODE, *LINK, e.UnknownAccount,
        e.PrivacyPolicyOutdated,
    ),
    summary="Set a new password with the token of an emailed link, or with an emailed code.",
)  # fmt: skip
forgot_by_sms = operation(
    "passwords.forgot_by_sms", "POST /identity/v2/auth/password/otp", ForgotBySms, PostedSms, auth=K, row="U35",
    errors=(e.UnknownAccount, e.UnknownPhone, e.PhoneMissing, e.PhoneUnverified, e.PhoneLoginOff, e.AccountBlocked, *CAPTCHA, *SENT_SMS),
    summary="Text a code that resets a forgotten password.",
)  # fmt: skip
reset_by_sms = operation(
    "passwords.reset_by_sms", "PUT /identity/v2/auth/password/otp", ResetBySms, PasswordReset, auth=K, hashing=HASHES, row="U36",
    errors=(e.PhoneMissing, e.PhoneLoginOff, e.UnknownPhone, e.UnknownAccount, e.NoEmailProfile, *SMS_CODE, *LOCKED, *NEW_PASSWORD),
    summary="Set a new password with a texted code.",
)  # fmt: skip
reset_by_answer = operation(
    "passwords.reset_by_answer", "PUT /identity/v2/auth/password/securityanswer", ResetByAnswer, PasswordReset, auth=K, hashing=HASHES,
    row="U37",
    errors=(
        e.UnknownAccount, e.AccountBlocked, e.UnknownSecurityQuestion, e.NoSecurityAnswers, e.WrongSecurityAnswer, e.WrongQuestionOrAnswer,
        e.SecurityQuestionsOff, e.MalformedEmail, *CAPTCHA, *NEW_PASSWORD,
    ),
    summary="Set a new password with the answers to security questions.",
)  # fmt: skip
change = operation(
    "passwords.change", "PUT /identity/v2/auth/password/change", ChangePassword, Posted, auth=K & U, access=CREDENTIALS, hashing=HASHES,
    row="U32", errors=(e.WrongCurrentPassword, e.UnknownUid, e.PrivacyPolicyOutdated, *LOCKED, *NEW_PASSWORD),
    summary="Change the signed-in account's password; every other session and token ends.",
)  # fmt: skip

_ASKED = (e.UnknownAccount, e.NoSecurityAnswers, e.SecurityQuestionsOff)
_QUESTIONS = "/identity/v2/auth/securityquestion"
questions_by_email = operation(
    "passwords.questions_by_email", f"GET {_QUESTIONS}/email", QuestionsByEmail, Document, auth=K, row="U38",
    errors=(*_ASKED, e.MalformedEmail, e.UsernameLookupOnly), summary="List the questions that an account answered.",
)  # fmt: skip
questions_by_username = operation(
    "passwords.questions_by_username", f"GET {_QUESTIONS}/username", QuestionsByUsername, Document, auth=K, row="U39",
    errors=(*_ASKED, e.UsernameMissing), summary="List the questions that an account answered.",
)  # fmt: skip
questions_by_phone = operation(
    "passwords.questions_by_phone", f"GET {_QUESTIONS}/phone", QuestionsByPhone, Document, auth=K, row="U40",
    errors=(*_ASKED, e.PhoneMissing, e.UsernameLookupOnly), summary="List the questions that an account answered.",
)  # fmt: skip
own_questions = operation(
    "passwords.own_questions", f"GET {_QUESTIONS}/accesstoken", OwnQuestions, Document, auth=K & U, access=READ, row="U41",
    errors=(*_ASKED, e.PrivacyPolicyOutdated), summary="List the questions that the signed-in account answered.",
)  # fmt: skip

read_hash = operation(
    "passwords.read_hash", "GET /identity/v2/manage/account/{uid}/password", ReadHash, PasswordHash, auth=K & S | M, scope="profile:read",
    row="A15", errors=(*UID_REFUSALS, e.NoEmailProfile), summary="Read the hash of an account's password.",
)  # fmt: skip
set_password = operation(
    "passwords.set", "PUT /identity/v2/manage/account/{uid}/password", SetPassword, PasswordHash, auth=K & S | M, scope="profile:update",
    hashing=HASHES_IN_BULK, row="A16", errors=(*UID_REFUSALS, e.NoEmailProfile, *NEW_PASSWORD),
    summary="Set an account's password; its sessions and tokens end.",
)  # fmt: skip
forgot_token = operation(
    "passwords.forgot_token", "POST /identity/v2/manage/account/forgot/token", ForgotToken, ForgotTokenMade, auth=K & S | M,
    scope="profile:update", row="A17",
    errors=(
        e.UnknownAccount, e.UsernameMissing, e.EmailOrUsernameMissing, e.MalformedEmail, e.ResetUrlRefused, e.TokenLimitReached,
        e.MailLimitReached,
    ),
    summary="Create the token of a password reset link, and email it if asked.",
)  # fmt: skip
