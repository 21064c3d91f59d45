"""Smart login: an emailed link approves the sign-in of another device. One-touch login: an emailed link or a texted code
signs in, and registers new accounts."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import API_KEY
from app.contract.catalogue import HASHES_SECRETS, operation
from app.contract.error_groups import (
    CAPTCHA,
    CONTACT_TAKEN,
    EMAIL_CODE,
    EMAIL_DOMAINS,
    EMAIL_SENDING,
    IDENTIFIER_KINDS,
    LOCK_CHALLENGES,
    SMS_CODE,
    SMS_SENDING,
)
from app.contract.passwordless.passwordless_operations import (
    SIGN_IN_ERRORS,
    Address,
    LoginSmsOptions,
    Name,
    Named,
    SignInParameters,
    Url,
)
from app.contract.second_factors.challenge import FactorLogin
from app.contract.shared_parameters import CaptchaSolution, PhoneInQuery, WebhookSuppression
from app.contract.shared_responses import Posted, PostedSms
from app.kit.operations.wire import From, Wire

Query = From.QUERY
GUID = r"^[A-Za-z0-9_{}.-]{20,100}$"
"""It authorizes the session, so it must be long enough to be unguessable."""
Guid = Annotated[str, Field(pattern=GUID)]


class StartSmartLogin(LoginSmsOptions):
    """Exactly one of email, username and phone. `clientguid`: a secret of the waiting device."""

    email: Address = None
    username: Address = None
    phone: Annotated[PhoneInQuery, Field(max_length=64)] = None
    client_guid: Annotated[Guid, Query]
    smart_login_email_template: Name = None
    welcome_email_template: Name = None
    redirect_url: Url = None


class LoginRequested(Posted):
    """A sign-in that waits for approval. Show `number` on the waiting device: the person types these two digits on the page that
    the link opens. If the request contains the API secret, there's no `number`, and the page doesn't ask for one."""

    omits_none = True
    number: str | None = None


class PollLogin(SignInParameters):
    client_guid: Annotated[str, Query, Field(max_length=200)]


class ApproveByLink(WebhookSuppression):
    """The token of the link, or the code with the `email` or `phone` it was sent to; and the number that the waiting device shows."""

    verification_token: Annotated[str | None, Query, Field(max_length=1_000)] = None
    vtoken: Annotated[str | None, Query, Field(max_length=1_000)] = None
    email: Address = None
    phone: Annotated[PhoneInQuery, Field(max_length=64)] = None
    number: Annotated[str | None, Query, Field(max_length=20)] = None
    welcome_email_template: Name = None

    @property
    def shown(self) -> str | None:
        return self.verification_token or self.vtoken


class LoginApproved(Wire):
    is_posted: bool = True
    is_verified: bool = True


class StartOneTouchByEmail(WebhookSuppression, CaptchaSolution):
    client_guid: Guid
    email: Named = None
    name: Annotated[str | None, Field(max_length=200)] = None
    redirect_url: Url = None
    one_touch_login_email_template: Name = None
    welcome_email_template: Name = None


class StartOneTouchBySms(CaptchaSolution, LoginSmsOptions):
    phone: Annotated[str | None, Field(max_length=64)] = None
    name: Annotated[str | None, Field(max_length=200)] = None


class OneTouchByCode(SignInParameters, WebhookSuppression):
    phone: Annotated[str | None, Field(max_length=64)] = None
    otp: Annotated[str | None, Query, Field(max_length=64)] = None
    sms_template: Name = None


_AUTH = "/identity/v2/auth"
_NEW = (*EMAIL_DOMAINS, errors.RegistrationOff)
_CLICKED = (*LOCK_CHALLENGES, *SMS_CODE, *EMAIL_CODE, errors.UnknownPhone, errors.PhoneLoginOff)
"""A code instead of the link."""

_START_ERRORS = (
    *SMS_SENDING, *IDENTIFIER_KINDS, *EMAIL_SENDING, errors.SmartLoginOff, errors.ClientGuidTaken, errors.MalformedEmail,
    errors.UnknownAccount,
    errors.UnknownPhone, errors.PhoneUnverified, errors.AccountBlocked, errors.TooManyRequests,
)  # fmt: skip
begin = operation(
    "smart_login.start", f"GET {_AUTH}/login/smartlogin", StartSmartLogin, LoginRequested, auth=API_KEY, takes_secret=True, row="U55",
    errors=_START_ERRORS,
    summary="Start smart login",
    description="Emails a link that approves a sign-in on this device, for example on a TV or computer while the inbox is on a phone. "
    "Choose a new `clientguid`, show the `Number` of the response, and poll `GET /identity/v2/auth/login/smartlogin/ping` "
    "with the same `clientguid`.",
)  # fmt: skip
poll = operation(
    "smart_login.poll", f"GET {_AUTH}/login/smartlogin/ping", PollLogin, FactorLogin, auth=API_KEY, row="U56",
    errors=(*_NEW, *SIGN_IN_ERRORS, *CONTACT_TAKEN, errors.SmartLinkWaits, errors.WrongClientGuid, errors.UsedSmartLink),
    summary="Poll for an approved sign-in",
    description="Returns the session once the emailed link was approved, for smart login and for one-touch login by email. Poll about "
    "every 5 seconds; until then it answers error 1139. It returns the session once.",
)  # fmt: skip
_APPROVE_ERRORS = (
    *_CLICKED, errors.SmartLoginOff, errors.EmailMissing, errors.UnknownLink, errors.ExpiredLink, errors.UsedSmartLink,
    errors.VerifiedSmartLink, errors.UsedOneTouchLink,
    errors.OneTouchOff, errors.TooManyRequests,
)  # fmt: skip
approve = operation(
    "smart_login.approve", f"GET {_AUTH}/email/smartlogin", ApproveByLink, LoginApproved, auth=API_KEY, row="U57", errors=_APPROVE_ERRORS,
    summary="Approve a smart login",
    description="Approves the sign-in of the waiting device with the token of the emailed link. A HEAD request approves nothing.",
)  # fmt: skip
_TOUCH_MAIL_ERRORS = (
    *_NEW, *EMAIL_SENDING, *CAPTCHA, errors.OneTouchOff, errors.ClientGuidTaken, errors.MalformedEmail, errors.AccountBlocked,
    errors.TooManyRequests,
)  # fmt: skip
touch_mail = operation(
    "smart_login.touch_mail", f"POST {_AUTH}/onetouchlogin/email", StartOneTouchByEmail, LoginRequested, auth=API_KEY, takes_secret=True,
    row="U58", errors=_TOUCH_MAIL_ERRORS,
    summary="Start one-touch login by email",
    description="Emails a link that signs in. If the address is new and sign-up is open, approving the link creates the account. Poll "
    "`GET /identity/v2/auth/login/smartlogin/ping` with the same `clientguid` for the session.",
)  # fmt: skip
_TOUCH_SMS_ERRORS = (
    *SMS_SENDING, *CAPTCHA, errors.OneTouchOff, errors.PhoneMissing, errors.MalformedPhone, errors.PhoneLoginOff, errors.AccountBlocked,
    errors.TooManyRequests,
    errors.RegistrationOff,
)  # fmt: skip
touch_sms = operation(
    "smart_login.touch_sms", f"POST {_AUTH}/onetouchlogin/phone", StartOneTouchBySms, PostedSms, auth=API_KEY, row="U59",
    errors=_TOUCH_SMS_ERRORS,
    summary="Start one-touch login by phone",
    description="Texts a code that signs in. If the number is new and sign-up is open, the code creates the account.",
)  # fmt: skip
_TOUCH_CODE_ERRORS = (
    *SIGN_IN_ERRORS, *SMS_CODE, *CONTACT_TAKEN, errors.OneTouchOff, errors.PhoneMissing, errors.MalformedPhone, errors.PhoneLoginOff,
    errors.TooManyRequests,
    errors.RegistrationOff,
)  # fmt: skip
touch_code = operation(
    "smart_login.touch_code", f"PUT {_AUTH}/onetouchlogin/phone/verify", OneTouchByCode, FactorLogin, auth=API_KEY,
    heavy_work=HASHES_SECRETS, row="U60", errors=_TOUCH_CODE_ERRORS,
    summary="Finish one-touch login by phone",
    description="Signs in with the texted code and the phone number, and returns a session, or a challenge if a second factor is "
    "needed.",
)  # fmt: skip
touch_link = operation(
    "smart_login.touch_link", f"GET {_AUTH}/email/onetouchlogin", ApproveByLink, LoginApproved, auth=API_KEY, row="U61",
    errors=(
        *_CLICKED, errors.OneTouchOff, errors.EmailMissing, errors.UnknownLink, errors.ExpiredLink, errors.UsedOneTouchLink,
        errors.TooManyRequests,
    ),
    summary="Approve a one-touch login",
    description="Approves a one-touch login with the token of the emailed link. The waiting device gets the session when it polls.",
)  # fmt: skip
