"""Email verification, and availability of identifiers."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, WRITE
from app.contract.catalogue import HASHES_SECRETS, operation
from app.contract.error_groups import EMAIL_CODE, EMAIL_SENDING, LINK, LOCK_ANSWERS, LOCKS
from app.contract.shared_parameters import (
    AccessTokenQuery,
    CaptchaSolution,
    FieldSelection,
    LockAnswers,
    PhoneInQuery,
    WebhookSuppression,
)
from app.contract.sign_in.sign_in_operations import Login
from app.kit.operations.wire import From, Lower, Wire

Query = From.QUERY
Address = Annotated[str | None, Field(max_length=320)]

LINK_ERRORS = (
    *LINK,
    errors.WrongVerificationLink,
    errors.ClosedLink,
    errors.EmailVerifiedBefore,
    errors.EmailRegistered,
)
CODE_ERRORS = (
    *LOCK_ANSWERS, *LOCKS, *EMAIL_CODE, errors.EmailCodesOff, errors.MalformedEmail, errors.UnknownAccount, errors.TooManyRequests,
)  # fmt: skip


class ResendVerification(Wire):
    email: Address = None
    verification_url: Annotated[str | None, Query] = None
    email_template: Annotated[str | None, Query] = None


class PostedWithId(Wire):
    """The result of sending a code. You can send `UUID` with the code instead of the address."""

    omits_none = True

    is_posted: bool = True
    uuid: str | None = Field(default=None, alias="UUID")


class Exist(Wire):
    """Whether the identifier is taken."""

    is_exist: bool


class EmailAvailability(Lower):
    email: Annotated[Address, Query] = None


class PhoneAvailability(Lower):
    phone: PhoneInQuery = None


class UsernameAvailability(Lower):
    username: Annotated[str | None, Query] = None


class VerifyByLink(FieldSelection, WebhookSuppression):
    """A link's token, or a code with its address or id."""

    verification_token: Annotated[str | None, Query] = None
    email: Annotated[Address, Query] = None
    uuid: Annotated[str | None, Query] = None
    otp: Annotated[str | None, Query] = None
    url: Annotated[str | None, Query] = None
    welcome_email_template: Annotated[str | None, Query] = None


class VerifyByCode(FieldSelection, WebhookSuppression, CaptchaSolution, LockAnswers):
    otp: str = Field(max_length=64)
    email: Address = None
    uuid: str | None = None
    url: Annotated[str | None, Query] = None
    welcome_email_template: Annotated[str | None, Query] = None


class Verified(Wire):
    """The result of a verification. `Data` is a session if the tenant signs people in after it."""

    omits_none, omitted_if_none = True, frozenset[str]()  # the session's

    is_posted: bool = True
    data: Login | None = None


class SendOwnVerification(AccessTokenQuery):
    verification_url: Annotated[str | None, Query] = None
    email_template: Annotated[str | None, Query] = None
    client_guid: Annotated[str | None, Query] = None


resend = operation(
    "verification.resend", "PUT /identity/v2/auth/register", ResendVerification, PostedWithId, auth=API_KEY, row="U03",
    errors=(
        *EMAIL_SENDING, errors.UnknownAccount, errors.EmailAlreadyVerified, errors.EmailVerificationOff, errors.MalformedEmail,
        errors.TooManyRequests,
    ),
    summary="Resend the verification email",
    description="Sends another verification email to an address that isn’t verified yet. An earlier link or code stops working. With "
    "codes, `UUID` in the response names the address when you verify the code.",
)  # fmt: skip
by_link = operation(
    "verification.by_link", "GET /identity/v2/auth/email", VerifyByLink, Verified, auth=API_KEY,
    when=("verificationtoken", "otp"), row="U05", errors=(*LINK_ERRORS, *CODE_ERRORS),
    summary="Verify an email with a link",
    description="Verifies an email address with the token of an emailed link. `Data` is a session if the tenant signs accounts in "
    "after verification, otherwise null. The link works once; a HEAD request, as mail scanners send it, doesn’t use it "
    "up.",
)  # fmt: skip
email_availability = operation(
    "verification.email_availability", "GET /identity/v2/auth/email", EmailAvailability, Exist, auth=API_KEY, row="U04",
    errors=(errors.MalformedEmail, errors.TooManyRequests),
    summary="Check if an email is taken",
    description="Tells whether an account has this email address. Use it while someone fills in your sign-up form. Requests are "
    "limited for each IP address.",
)  # fmt: skip
by_code = operation(
    "verification.by_code", "PUT /identity/v2/auth/email", VerifyByCode, Verified, auth=API_KEY, heavy_work=HASHES_SECRETS, row="U06",
    errors=(*CODE_ERRORS, errors.ClosedLink, errors.EmailVerifiedBefore, errors.EmailRegistered),
    summary="Verify an email with a code",
    description="Verifies an email address with an emailed code and the address, or with the `UUID` that the request for the code "
    "returned. `Data` is a session if the tenant signs accounts in after verification, otherwise null.",
)  # fmt: skip
_SEND_OWN_ERRORS = (
    *EMAIL_SENDING, errors.EmailVerificationOff, errors.EmailAlreadyVerified, errors.WrongClientGuid, errors.NoEmailProfile,
    errors.PrivacyPolicyOutdated,
)  # fmt: skip
send_own = operation(
    "verification.send_own", "GET /identity/v2/auth/email/sendverificationemail", SendOwnVerification, PostedWithId,
    auth=API_KEY & ACCESS_TOKEN | API_KEY, access=WRITE, row="U07", errors=_SEND_OWN_ERRORS,
    summary="Send a verification email",
    description="Sends a verification email for the signed-in account, or for the social sign-in that `clientguid` names, whose "
    "provider didn’t verify the address.",
)  # fmt: skip
phone_availability = operation(
    "verification.phone_availability", "GET /identity/v2/auth/phone", PhoneAvailability, Exist, auth=API_KEY, row="U08",
    errors=(errors.PhoneLoginOff, errors.MalformedPhone, errors.TooManyRequests),
    summary="Check if a phone number is taken",
    description="Tells whether an account signs in with this phone number. Requests are limited for each IP address.",
)  # fmt: skip
username_availability = operation(
    "verification.username_availability", "GET /identity/v2/auth/username", UsernameAvailability, Exist, auth=API_KEY, row="U09",
    errors=(errors.UsernameMissing, errors.MalformedUsername, errors.UsernameFormatRefused, errors.TooManyRequests),
    summary="Check if a username is taken",
    description="Tells whether an account has this username. Requests are limited for each IP address.",
)  # fmt: skip
