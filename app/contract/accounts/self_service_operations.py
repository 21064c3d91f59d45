"""Changes of an account by its owner."""

from typing import Annotated, ClassVar

from pydantic import Field

from app.contract import errors
from app.contract.accounts.account_operations import MODEL_ERRORS, AccountIdentifiers, PersonFields
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREDENTIALS, MACHINE_TOKEN, READ, WRITE
from app.contract.catalogue import HASHES_SECRETS, operation
from app.contract.error_groups import (
    ADDED_EMAIL,
    CAPTCHA,
    DIRECTORY,
    EMAIL_DOMAINS,
    EMAIL_SENDING,
    LOCK_ANSWERS,
    LOCKS,
    RECORDS,
    SMS_CODE,
    SMS_SENDING,
    UID_ERRORS,
)
from app.contract.error_profiles import BEFORE_POLICY
from app.contract.profile import Profile
from app.contract.shared_parameters import (
    AccessTokenQuery,
    CaptchaSolution,
    FieldSelection,
    LockAnswers,
    SuppressedMessages,
    Uid,
    WebhookSuppression,
)
from app.contract.shared_responses import Deleted, Posted, PostedSms
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Lower, Wire

Query = From.QUERY
Address = Annotated[str | None, Field(max_length=320)]
Name = Annotated[str | None, Query, Field(max_length=100)]
Url = Annotated[str | None, Query, Field(max_length=2_000)]


class UpdateOwnAccount(
    FieldSelection,
    WebhookSuppression,
    AccessTokenQuery,
    CaptchaSolution,
    SuppressedMessages,
    AccountIdentifiers,
    PersonFields,
):
    """A null clears a field with `nullsupport`; without it a null has no effect."""

    old_password: str | None = Field(default=None, max_length=1024, alias="oldpassword")
    null_support: Annotated[bool, Query] = False
    verification_url: Url = None
    email_template: Name = None
    sms_template: Name = None
    is_voice_otp: Annotated[bool, Query] = False


class OwnProfile(Wire):
    """The profile after the change."""

    is_posted: bool = True
    data: Profile


class SetUsername(AccessTokenQuery, WebhookSuppression):
    username: Address = None


class AddEmail(AccessTokenQuery, WebhookSuppression):
    email: Address = None
    type: str | None = Field(default=None, max_length=50)
    verification_url: Url = None
    email_template: Name = None


class RemoveEmail(AccessTokenQuery, WebhookSuppression):
    email: Address = None


class Unlock(AccessTokenQuery, WebhookSuppression, CaptchaSolution, LockAnswers):
    """The solution of the lock: a captcha's answer, which may be in the query, or security answers."""

    body_is_optional: ClassVar[bool] = True


class SendWelcomeEmail(AccessTokenQuery):
    welcome_email_template: Name = None


class RequestDeletion(AccessTokenQuery):
    delete_url: Url = None
    email_template: Name = None


class DeletionRequested(Wire):
    is_delete_request_accepted: bool = True


class ConfirmDeletion(Lower):
    delete_token: Annotated[str, Query, Field(max_length=200)]


class SendDeletionCode(AccessTokenQuery):
    sms_template: Name = None
    is_voice_otp: Annotated[bool, Query] = False


class DeleteByCode(AccessTokenQuery, WebhookSuppression, CaptchaSolution, LockAnswers):
    otp: str = Field(max_length=64)


class AcceptPolicy(AccessTokenQuery, FieldSelection):
    pass


class AcceptedPolicy(Wire):
    version: str
    accept_source: str
    accept_date_time: str


class PolicyHistory(Wire):
    """The versions of the privacy notice that the account has accepted, newest first. `Current` is the first of them."""

    uid: str
    current: AcceptedPolicy | None = None
    history: list[AcceptedPolicy] = Field(default_factory=list)


OWN_CHANGE_ERRORS = (
    *MODEL_ERRORS, *SMS_SENDING, *RECORDS, *EMAIL_SENDING, *EMAIL_DOMAINS, *CAPTCHA, *LOCKS, errors.WrongCurrentPin,
    errors.EmailUpdateRefused,
    errors.PasswordNotAcceptable, errors.TooYoung, errors.PrivacyPolicyOutdated, errors.TooManyRequests, errors.WrongCurrentPassword,
    errors.PhoneLoginOff, *DIRECTORY, errors.DirectoryPasswordElsewhere,
)  # fmt: skip
LOCK_ERRORS = (*LOCK_ANSWERS, *LOCKS, errors.TooManyRequests)

update = operation(
    "self_service.update", "PUT /identity/v2/auth/account", UpdateOwnAccount, OwnProfile, auth=API_KEY & ACCESS_TOKEN,
    access=WRITE.sensitive_with(*AccountIdentifiers.model_fields, *PersonFields.model_fields), accepts=Accept.JSON,
    heavy_work=HASHES_SECRETS, row="U16", errors=OWN_CHANGE_ERRORS,
    summary="Update the signed-in account",
    description="Changes the profile fields that the request contains. A null clears a field only with `nullsupport=true`. If the "
    "account has a password, `Password`, `SecurityQuestionAnswer` and a PIN need it as `oldpassword`. A new email address is added "
    "with `POST /identity/v2/auth/email` instead. A new `PhoneId` becomes the account’s once its texted code is sent to `PUT "
    "/identity/v2/auth/phone/otp`.",
)  # fmt: skip
set_username = operation(
    "self_service.set_username", "PUT /identity/v2/auth/username", SetUsername, Posted, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, row="U22", visits=True,
    errors=(
        errors.UsernameTaken, errors.UsernameFixed, errors.UsernameFormatRefused, errors.UsernameMissing, errors.MalformedUsername,
        errors.PrivacyPolicyOutdated,
    ),
    summary="Set the username",
    description="Sets or changes the username of the signed-in account.",
)  # fmt: skip
add_email = operation(
    "self_service.add_email", "POST /identity/v2/auth/email", AddEmail, Posted, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS, row="U23",
    errors=(*ADDED_EMAIL, *EMAIL_SENDING, errors.PrivacyPolicyOutdated),
    summary="Add an email address",
    description="Adds an email address to the signed-in account and emails a link that verifies it.",
)  # fmt: skip
remove_email = operation(
    "self_service.remove_email", "DELETE /identity/v2/auth/email", RemoveEmail, Deleted, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, row="U24",
    visits=True,
    errors=(errors.LastEmail, errors.EmailActionRefused, errors.EmailNotOnProfile, errors.MalformedEmail, errors.PrivacyPolicyOutdated),
    summary="Remove an email address",
    description="Removes an email address from the signed-in account. The last one can’t be removed.",
)  # fmt: skip
unlock = operation(
    "self_service.unlock", "PUT /identity/v2/auth/account/unlock", Unlock, Posted, auth=API_KEY & ACCESS_TOKEN,
    access=WRITE, heavy_work=HASHES_SECRETS, row="U25", errors=(*LOCK_ERRORS, errors.UnlockedAlready, errors.PrivacyPolicyOutdated),
    summary="Unlock the account",
    description="Ends the lockout of the signed-in account with a captcha or the answer to a security question, whichever the lockout "
    "asks for. It doesn’t end a timed lockout or a block.",
)  # fmt: skip
send_welcome = operation(
    "self_service.send_welcome", "GET /identity/v2/auth/account/sendwelcomeemail", SendWelcomeEmail, Posted,
    auth=API_KEY & ACCESS_TOKEN, access=WRITE,
    row="U26", errors=(errors.MailLimitReached, errors.NoEmailOnProfile, errors.PrivacyPolicyOutdated),
    summary="Send the welcome email",
    description="Sends the welcome email to the signed-in account.",
)  # fmt: skip
accept_policy = operation(
    "self_service.accept_policy", "GET /identity/v2/auth/privacypolicy/accept", AcceptPolicy, Profile,
    auth=API_KEY & ACCESS_TOKEN, access=WRITE,
    error_profile=BEFORE_POLICY, row="U27",
    errors=(
        *LOCKS, errors.NoPrivacyPolicy, errors.PolicyAcceptedAlready, errors.ConsentNeeded, errors.PinRequired, errors.LoginDisabled,
        errors.LoginNotAllowed, errors.EmailUnverified, errors.PhoneUnverified, errors.TwoFactorOn,
    ),
    summary="Accept the privacy notice",
    description="Records that the signed-in account accepted the current privacy notice, and returns its profile. Until then, other "
    "operations answer error 1194.",
)  # fmt: skip
policy_history = operation(
    "self_service.policy_history", "GET /identity/v2/auth/privacypolicy/history", AccessTokenQuery, PolicyHistory,
    auth=API_KEY & ACCESS_TOKEN, access=READ, row="U28", errors=(errors.NoPrivacyPolicy, errors.PrivacyPolicyOutdated),
    summary="List accepted privacy notices",
    description="Returns which versions of the privacy notice the signed-in account accepted, when and where.",
)  # fmt: skip
managed_policy_history = operation(
    "self_service.managed_policy_history", "GET /identity/v2/manage/account/{uid}/privacypolicy/history", Uid, PolicyHistory,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:read", row="A14", errors=(*UID_ERRORS, errors.NoPrivacyPolicy),
    summary="List privacy notices an account accepted",
    description="Returns which versions of the privacy notice an account accepted, when and where.",
)  # fmt: skip
request_deletion = operation(
    "self_service.ask_deletion", "DELETE /identity/v2/auth/account", RequestDeletion, DeletionRequested,
    auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    row="U18", visits=True,
    errors=(*EMAIL_SENDING, errors.EmailMissing, errors.NoEmailOnProfile, errors.NotProcessable, errors.PrivacyPolicyOutdated),
    summary="Request account deletion by email",
    description="Emails a link that deletes the signed-in account. Nothing is deleted until the link is opened.",
)  # fmt: skip
confirm_deletion = operation(
    "self_service.confirm_deletion", "GET /identity/v2/auth/account/delete", ConfirmDeletion, Posted, auth=API_KEY, row="U19",
    errors=(errors.WrongDeleteToken, errors.UsedLink, errors.ExpiredLink),
    summary="Confirm account deletion with a link",
    description="Deletes the account of an emailed deletion link, with its sessions and tokens. A HEAD request doesn’t use the link "
    "up.",
)  # fmt: skip
_SEND_DELETION_CODE_ERRORS = (
    errors.RequestInvalid, errors.NoPhoneOnProfile, errors.VoiceOtpOff, errors.SmsLimitReached, errors.SharedSmsLimitReached,
    errors.PrivacyPolicyOutdated,
)  # fmt: skip
send_deletion_code = operation(
    "self_service.send_deletion_code", "GET /identity/v2/auth/account/otp", SendDeletionCode, PostedSms,
    auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS, row="U20", errors=_SEND_DELETION_CODE_ERRORS,
    summary="Request account deletion by text message",
    description="Texts a code that deletes the signed-in account. Nothing is deleted until the code is sent to `POST "
    "/identity/v2/auth/account/delete`.",
)  # fmt: skip
delete_by_code = operation(
    "self_service.delete_by_code", "POST /identity/v2/auth/account/delete", DeleteByCode, Deleted,
    auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    heavy_work=HASHES_SECRETS, row="U21", errors=(*LOCK_ERRORS, *SMS_CODE, errors.NoPhoneOnProfile, errors.PrivacyPolicyOutdated),
    summary="Confirm account deletion with a code",
    description="Deletes the signed-in account with the texted code, with its sessions and tokens.",
)  # fmt: skip
