"""Identifiers of an account, changed by the tenant's servers."""

from typing import Annotated, ClassVar

from pydantic import Field

from app.contract import errors
from app.contract.accounts.account_operations import EmailEntry
from app.contract.auth import API_KEY, API_SECRET, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_groups import EMAIL_SENDING, SMS_SENDING, UID_ERRORS
from app.contract.profile import Profile
from app.contract.shared_parameters import FieldSelection, Uid, WebhookSuppression
from app.contract.shared_responses import Posted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire

Query = From.QUERY
Template = Annotated[str | None, Query, Field(max_length=100)]


class SetEmails(Uid, FieldSelection, WebhookSuppression, Wire):
    """An address replaces those of its type; an address of another type is added."""

    email: list[EmailEntry] = Field(default_factory=list, max_length=20)


class RemoveAccountEmail(Uid, FieldSelection, WebhookSuppression, Wire):
    email: str | None = Field(default=None, max_length=320)


class SetPhone(Uid, FieldSelection, WebhookSuppression, Wire):
    phone: str | None = Field(default=None, max_length=64)


class InvalidateEmail(Uid, WebhookSuppression):
    """`verificationurl`: the page that the mailed link opens; absent: the hosted page."""

    body_is_optional: ClassVar[bool] = True

    verification_url: Annotated[str | None, Query, Field(max_length=2_000)] = Field(
        default=None, alias="verificationurl"
    )
    email_template: Template = Field(default=None, alias="emailtemplate")


class InvalidatePhone(Uid, WebhookSuppression):
    body_is_optional: ClassVar[bool] = True

    sms_template: Template = Field(default=None, alias="smstemplate")
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


class ChangeUid(WebhookSuppression):
    uid: Annotated[str, Query] = ""
    new_uid: str = Field(default="", max_length=100, alias="NewUid")


_EMAIL_ERRORS = (
    errors.MalformedEmail, errors.EmailTypeMissing, errors.EmailTwice, errors.PrimaryEmailTwice, errors.EmailRegistered,
    errors.EmailUpdateRefused,
)  # fmt: skip
set_emails = operation(
    "accounts.set_emails", "PUT /identity/v2/manage/account/{uid}/email", SetEmails, Profile,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:update",
    accepts=Accept.JSON, row="A08", errors=(*UID_ERRORS, *_EMAIL_ERRORS),
    summary="Set an account’s email addresses",
    description="Adds email addresses to an account. An address replaces the one of its type; an address of another type is added. "
    "All count as verified.",
)  # fmt: skip
remove_email = operation(
    "accounts.remove_email", "DELETE /identity/v2/manage/account/{uid}/email", RemoveAccountEmail, Profile,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="profile:update", accepts=Accept.JSON, row="A09",
    errors=(*UID_ERRORS, errors.MalformedEmail, errors.EmailNotOnProfile, errors.LastEmail),
    summary="Remove an account’s email address",
    description="Removes an email address from an account. The last one can’t be removed.",
)  # fmt: skip
set_phone = operation(
    "accounts.set_phone", "PUT /identity/v2/manage/account/{uid}/phoneid", SetPhone, Profile,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:update",
    accepts=Accept.JSON, row="A10", errors=(*UID_ERRORS, errors.MalformedPhone, errors.PhoneTaken),
    summary="Set an account’s phone number",
    description="Sets the phone number that an account signs in with. It counts as verified.",
)  # fmt: skip
invalidate_email = operation(
    "accounts.invalidate_email", "PUT /identity/v2/manage/account/{uid}/invalidateemail", InvalidateEmail, Posted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="profile:update", row="A11", errors=(*UID_ERRORS, *EMAIL_SENDING, errors.NoEmailToInvalidate, errors.EmailUnverifiedBefore),
    summary="Require email verification again",
    description="Marks the primary email address of an account as unverified and emails a verification link.",
)  # fmt: skip
invalidate_phone = operation(
    "accounts.invalidate_phone", "PUT /identity/v2/manage/account/{uid}/invalidatephone", InvalidatePhone, Posted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="profile:update", row="A12", errors=(*UID_ERRORS, *SMS_SENDING, errors.NoPhoneToInvalidate, errors.PhoneUnverifiedBefore),
    summary="Require phone verification again",
    description="Marks the phone number of an account as unverified and texts a verification code.",
)  # fmt: skip
change_uid = operation(
    "accounts.change_uid", "PUT /identity/v2/manage/account/uid", ChangeUid, Posted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:update",
    accepts=Accept.JSON, row="A13", errors=(*UID_ERRORS, errors.UidTaken),
    summary="Change an account’s ID",
    description="Gives an account another ID. The former ID is kept in `PreviousUids`; sessions and tokens stay valid.",
)  # fmt: skip
