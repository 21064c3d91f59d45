"""Phone numbers of accounts: verified, changed, removed."""

from typing import Annotated, ClassVar

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, CREDENTIALS, WRITE
from app.contract.catalogue import HASHES_SECRETS, operation
from app.contract.error_groups import LOCK_CHALLENGES, SESSION_ERRORS, SMS_CODE, SMS_SENDING
from app.contract.profile import Profile
from app.contract.second_factors.challenge import Challenge
from app.contract.shared_parameters import (
    AccessTokenQuery,
    CaptchaSolution,
    FieldSelection,
    LockAnswers,
    WebhookSuppression,
)
from app.contract.shared_responses import Deleted, PostedSms
from app.kit.operations.wire import From, Wire

Query = From.QUERY
Number = Annotated[str | None, Field(max_length=64)]
Name = Annotated[str | None, Query, Field(max_length=100)]


class SendPhoneCode(AccessTokenQuery):
    """The number of an account; with an access token the pending one."""

    body_is_optional: ClassVar[bool] = True

    phone: Number = None
    sms_template: Name = None
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


class VerifyPhone(AccessTokenQuery, FieldSelection, WebhookSuppression, CaptchaSolution, LockAnswers):
    """`phone` identifies the account if there is no access token."""

    body_is_optional: ClassVar[bool] = True

    otp: Annotated[str | None, Query, Field(max_length=64)] = None
    phone: Number = None
    sms_template: Name = None
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


class PhoneVerified(Wire):
    """A session, or a challenge if a second factor is needed. With an access token in the request, only `IsPosted`."""

    omits_none: ClassVar[bool] = True

    is_posted: bool | None = None
    profile: Profile | None = None
    access_token: str | None = Field(default=None, alias="access_token")
    refresh_token: str | None = Field(default=None, alias="refresh_token")
    expires_in: str | None = Field(default=None, alias="expires_in")
    second_factor_authentication: Challenge | None = None


class ChangePhone(AccessTokenQuery, WebhookSuppression):
    phone: Number = None
    sms_template: Name = None
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


class RemovePhone(AccessTokenQuery, WebhookSuppression):
    """The account's phone number."""


_SEND_CODE_ERRORS = (
    *SMS_SENDING, errors.UnknownAccount, errors.UnknownPhone, errors.PhoneVerifiedBefore, errors.PhoneVerifiedOrNoToken,
    errors.PhoneLoginOff, errors.AccountBlocked,
    errors.PrivacyPolicyOutdated, errors.TooManyRequests,
)  # fmt: skip
send_code = operation(
    "phones.send_code", "POST /identity/v2/auth/phone/otp", SendPhoneCode, PostedSms,
    auth=API_KEY & ACCESS_TOKEN | API_KEY, access=WRITE, row="U62", errors=_SEND_CODE_ERRORS,
    summary="Resend the phone verification code",
    description="Texts another code to a phone number that isn’t verified yet. With an access token it’s the number of the signed-in "
    "account. An earlier code stops working.",
)  # fmt: skip
_VERIFY_ERRORS = (
    *LOCK_CHALLENGES, *SESSION_ERRORS, *SMS_CODE, errors.TwoFactorOn, errors.UnknownPhone, errors.PhoneLoginOff,
    errors.PhoneVerifiedOrNoToken, errors.PhoneTaken,
    errors.TooManyRequests,
)  # fmt: skip
verify = operation(
    "phones.verify", "PUT /identity/v2/auth/phone/otp", VerifyPhone, PhoneVerified,
    auth=API_KEY & ACCESS_TOKEN | API_KEY, access=CREDENTIALS, heavy_work=HASHES_SECRETS, row="U63", errors=_VERIFY_ERRORS,
    summary="Verify a phone number",
    description="Verifies a phone number with a texted code. Without an access token the response is a session; with one, the number of "
    "the signed-in account is verified and its session stays as it is.",
)  # fmt: skip
change = operation(
    "phones.change", "PUT /identity/v2/auth/phone", ChangePhone, PostedSms, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS, row="U65",
    errors=(
        *SMS_SENDING, errors.PhoneTaken, errors.PhoneLoginOff, errors.MalformedPhone, errors.PhoneRegistered, errors.PrivacyPolicyOutdated,
    ),
    summary="Change the phone number",
    description="Texts a code to a new phone number of the signed-in account. The new number replaces the old one once the code is "
    "verified.",
)  # fmt: skip
remove = operation(
    "phones.remove", "DELETE /identity/v2/auth/phone", RemovePhone, Deleted, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS, row="U66",
    visits=True,
    errors=(errors.NoPhoneRegistered, errors.NoPhoneOnProfile, errors.PhoneLoginOff, errors.NotProcessable, errors.PrivacyPolicyOutdated),
    summary="Remove the phone number",
    description="Removes the phone number of the signed-in account. It can’t sign in with it anymore.",
)  # fmt: skip
