"""Self-registration."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.accounts.account_operations import MODEL_ERRORS, NewAccountIdentifiers, PersonFields
from app.contract.auth import API_KEY, API_SECRET, MACHINE_TOKEN
from app.contract.catalogue import HASHES_IN_BULK, operation
from app.contract.consents.consent_operations import ConsentAnswers
from app.contract.error_groups import CAPTCHA, EMAIL_DOMAINS, EMAIL_SENDING, RECORDS, SMS_SENDING
from app.contract.shared_parameters import CaptchaSolution, FieldSelection, SuppressedMessages, WebhookSuppression
from app.contract.sign_in.sign_in_operations import Login
from app.kit.operations.wire import From, Wire

Query = From.QUERY


class SendingOptions(SuppressedMessages):
    """Options of the messages that a registration sends."""

    verification_url: Annotated[str | None, Query] = Field(default=None, max_length=2_000)
    email_template: Annotated[str | None, Query] = Field(default=None, max_length=100)
    welcome_email_template: Annotated[str | None, Query] = Field(default=None, max_length=100)
    sms_template: Annotated[str | None, Query] = Field(default=None, max_length=100)
    is_voice_otp: Annotated[bool, Query] = False
    invitation_token: Annotated[str | None, Query] = Field(default=None, max_length=500, alias="invitation_token")


class RegistrationModel(FieldSelection, WebhookSuppression, SendingOptions, NewAccountIdentifiers, PersonFields):
    """The registration model, without the members of the tenant's servers."""

    accept_privacy_policy: bool | None = None
    consents: ConsentAnswers | None = None
    referer: Annotated[str | None, From.HEADER] = Field(default=None, alias="Referer")


class Registration(RegistrationModel):
    sott: Annotated[str | None, Query] = Field(default=None, alias="sott")


class RegistrationWithCaptcha(CaptchaSolution, RegistrationModel):
    pass


class Registered(Wire):
    """The result of a sign-up. `Data` is a session if the account can sign in at once, otherwise null."""

    omits_none, omitted_if_none = True, frozenset[str]()  # the session's

    is_posted: bool = True
    data: Login | None = None


MAX_SOTT_MINUTES = 129_600  # 90 days, as the longest access token


class CreateSott(Wire):
    time_difference: Annotated[int, Query] = Field(default=10, ge=1, le=MAX_SOTT_MINUTES)


class Sott(Wire):
    sott: str
    expiry_time: str


REGISTRATION_ERRORS = (
    *MODEL_ERRORS, *SMS_SENDING, *RECORDS, *EMAIL_SENDING, *EMAIL_DOMAINS, errors.EmailOfProvider, errors.RegistrationOff,
    errors.UsernameMissing,
    errors.PhoneMissing, errors.PasswordMissing, errors.TooYoung, errors.PolicyNotAccepted, errors.PhoneLoginOff, errors.UidTaken,
    errors.MalformedUid, errors.TooManyRequests,
    errors.NoConsentForm, errors.ConsentRefused, errors.ConsentNeeded, errors.PinMissing, errors.PinRequired, errors.TwoFactorOn,
    errors.ClosedInvitation, errors.OrganizationInactive, errors.WrongInvitationEmail, errors.NoSeatLeft,
)  # fmt: skip

register = operation(
    "registration.register", "POST /identity/v2/auth/register", Registration, Registered, auth=API_KEY,
    heavy_work=HASHES_IN_BULK, row="U01",
    errors=(*REGISTRATION_ERRORS, errors.SottMissing, errors.WrongSott),
    summary="Create an account with a SOTT",
    description="Creates an account from the fields of the sign-up form and sends the verification email or text message. The request "
    "needs a secured one-time token (SOTT) from your server, in the header `X-Gatehouse-Sott` or as `sott`. `Data` is a "
    "session if the account can sign in at once, otherwise null.\n\nWith `invitation_token` the new account also joins the "
    "organization that invited it.",
)  # fmt: skip
register_with_captcha = operation(
    "registration.register_with_captcha", "POST /identity/v2/auth/register/captcha", RegistrationWithCaptcha, Registered, auth=API_KEY,
    heavy_work=HASHES_IN_BULK, row="U02", errors=(*REGISTRATION_ERRORS, *CAPTCHA),
    summary="Create an account with a captcha",
    description="Creates an account from the fields of the sign-up form and sends the verification email or text message. Use it on "
    "pages without a server of their own: the solved captcha replaces the SOTT. `Data` is a session if the account may "
    "sign in at once, otherwise null.",
)  # fmt: skip
sott = operation(
    "registration.sott", "GET /identity/v2/manage/account/sott", CreateSott, Sott,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="sott:create", row="A56",
    summary="Create a short-lived SOTT",
    description="Returns a secured one-time token that lets `POST /identity/v2/auth/register` create accounts until it expires. "
    "Create it on your server and give it to the page, so that the API secret stays on the server.",
)  # fmt: skip
