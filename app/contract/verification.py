"""Email verification, and whether a name is still to be had (interface user.md section 1, rows U03 to U09)."""

from typing import Annotated

from pydantic import Field

from app.contract import errors as e
from app.contract.access import WRITE
from app.contract.groups import AT, CAP, LOCK, PW, F, PhoneInQuery
from app.contract.operations import operation
from app.contract.sign_in import Login
from app.kit.operation import K, U
from app.kit.wire import From, Lower, Wire

Query = From.QUERY
Address = Annotated[str | None, Field(max_length=320)]

LINK_REFUSALS = (
    e.WrongVerificationLink, e.UsedLink, e.ExpiredLink, e.ClosedLink, e.UnknownLink, e.EmailVerifiedBefore, e.EmailRegistered,
)  # fmt: skip
CODE_REFUSALS = (
    e.WrongMailCode, e.UsedMailCode, e.ExpiredMailCode, e.ClosedMailCode, e.EmailCodesOff, e.LockedForCaptcha,
    e.LockedForSecurityQuestion, e.LockedForAWhile, e.AccountBlocked, e.UnknownSecurityQuestion, e.WrongQuestionOrAnswer,
    e.WrongCaptcha, e.WrongSecondCaptcha, e.MalformedEmail, e.UnknownAccount, e.TooManyRequests,
)  # fmt: skip


class MailAgain(Wire):
    email: Address = None
    verification_url: Annotated[str | None, Query] = None
    email_template: Annotated[str | None, Query] = None


class PostedWithId(Wire):
    """`UUID` names the code that was sent, in the place of the address."""

    sparse = True

    is_posted: bool = True
    uuid: str | None = Field(default=None, alias="UUID")


class Exist(Wire):
    """`true`: taken."""

    is_exist: bool


class EmailAvailability(Lower):
    email: Annotated[Address, Query] = None


class PhoneAvailability(Lower):
    phone: PhoneInQuery = None


class UsernameAvailability(Lower):
    username: Annotated[str | None, Query] = None


class VerifyByLink(F, PW):
    """A link's token, or a code with the address or the id that it was sent under."""

    verification_token: Annotated[str | None, Query] = None
    email: Annotated[Address, Query] = None
    uuid: Annotated[str | None, Query] = None
    otp: Annotated[str | None, Query] = None
    url: Annotated[str | None, Query] = None
    welcome_email_template: Annotated[str | None, Query] = None


class VerifyByCode(F, PW, CAP, LOCK):
    otp: str = Field(max_length=64)
    email: Address = None
    uuid: str | None = None
    url: Annotated[str | None, Query] = None
    welcome_email_template: Annotated[str | None, Query] = None


class Verified(Wire):
    """`Data` is a session where the tenant signs people in once they verify their address."""

    sparse, sparse_members = True, frozenset[str]()  # those of the session

    is_posted: bool = True
    data: Login | None = None


class MailOwn(AT):
    verification_url: Annotated[str | None, Query] = None
    email_template: Annotated[str | None, Query] = None
    client_guid: Annotated[str | None, Query] = None


resend = operation(
    "verification.resend", "PUT /identity/v2/auth/register", MailAgain, PostedWithId, auth=K,
    errors=(
        e.UnknownAccount, e.EmailAlreadyVerified, e.EmailVerificationOff, e.MalformedEmail, e.MailLimitReached,
        e.VerificationUrlRefused, e.TooManyRequests,
    ),
    summary="Resend the verification email.", row="U03",
)  # fmt: skip
by_link = operation(
    "verification.by_link", "GET /identity/v2/auth/email", VerifyByLink, Verified, auth=K,
    when=("verificationtoken", "otp"), errors=(*LINK_REFUSALS, *CODE_REFUSALS),
    summary="Verify an email address with an emailed link; a HEAD request leaves it unused.", row="U05",
)  # fmt: skip
email_availability = operation(
    "verification.email_availability", "GET /identity/v2/auth/email", EmailAvailability, Exist, auth=K,
    errors=(e.MalformedEmail, e.TooManyRequests), summary="Check whether an email address is taken.", row="U04",
)  # fmt: skip
by_code = operation(
    "verification.by_code", "PUT /identity/v2/auth/email", VerifyByCode, Verified, auth=K,
    errors=(*CODE_REFUSALS, e.ClosedLink, e.EmailVerifiedBefore), summary="Verify an email address with an emailed code.", row="U06",
)  # fmt: skip
send_own = operation(
    "verification.send_own", "GET /identity/v2/auth/email/sendverificationemail", MailOwn, PostedWithId, auth=K & U | K, access=WRITE,
    errors=(
        e.EmailVerificationOff, e.EmailAlreadyVerified, e.WrongClientGuid, e.NoEmailProfile, e.MailLimitReached,
        e.VerificationUrlRefused, e.PrivacyPolicyOutdated,
    ),
    summary="Send a verification email to the signed-in account.", row="U07",
)  # fmt: skip
phone_availability = operation(
    "verification.phone_availability", "GET /identity/v2/auth/phone", PhoneAvailability, Exist, auth=K,
    errors=(e.PhoneLoginOff, e.MalformedPhone, e.TooManyRequests), summary="Check whether a phone number is taken.", row="U08",
)  # fmt: skip
username_availability = operation(
    "verification.username_availability", "GET /identity/v2/auth/username", UsernameAvailability, Exist, auth=K,
    errors=(e.UsernameMissing, e.MalformedUsername, e.UsernameFormatRefused, e.TooManyRequests),
    summary="Check whether a username is taken.", row="U09",
)  # fmt: skip
