"""Passkeys as the first factor: sign-up, sign-in, and a new one for a lost one."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import API_KEY
from app.contract.catalogue import HASHES_IN_BULK, operation
from app.contract.error_groups import CAPTCHA, EMAIL_SENDING, LINK, PASSKEY, SESSION_ERRORS
from app.contract.passkeys.models import CredentialParameter, LoginBegin, PresentedCredential, RegisterBegin
from app.contract.registration.registration_operations import REGISTRATION_ERRORS, Registered, RegistrationModel
from app.contract.second_factors.challenge import FactorLogin
from app.contract.shared_parameters import CaptchaSolution, FieldSelection, SecondFactorOptions, WebhookSuppression
from app.contract.shared_responses import Posted
from app.kit.operations.wire import From, Lower

Query = From.QUERY
_A = "/identity/v2/auth"
Name = Annotated[str, Query, Field(max_length=320)]
Template = Annotated[str | None, Query, Field(max_length=100)]
Token = Annotated[str, Query, Field(max_length=200)]


class SignUpBegin(Lower):
    """The email of the account that is to be."""

    identifier: Name


class SignUpFinish(RegistrationModel):
    """The registration model, with a passkey instead of a password."""

    passkey_credential: PresentedCredential = Field(alias="PasskeyCredential")


class SignInBegin(Lower):
    identifier: Name
    verification_url: Annotated[str | None, Query, Field(max_length=2_000)] = None
    email_template: Template = None


class SignInFinish(CredentialParameter, FieldSelection, WebhookSuppression, SecondFactorOptions):
    """The templates are for a second factor, if one is still required."""


class AutofillBegin(Lower):
    """No parameters; the browser offers the passkeys of this device."""


class ForgotPasskey(CaptchaSolution):
    email: Annotated[str | None, Field(max_length=320)] = None
    reset_passkey_url: Annotated[str | None, Query, Field(max_length=2_000)] = None
    email_template: Template = None


class ResetBegin(Lower):
    vtoken: Token


class ResetFinish(CredentialParameter):
    vtoken: Token


SIGN_IN_ERRORS = (*SESSION_ERRORS, errors.EmailUnverified)

_BEGIN_SIGN_UP_ERRORS = (
    errors.PasskeysOff, errors.PasskeyMisconfigured, errors.PasskeyNeedsEmail, errors.EmailRegistered, errors.MalformedEmail,
    errors.RegistrationOff, errors.TooManyRequests,
)  # fmt: skip
begin_sign_up = operation(
    "passkeys.begin_sign_up", f"GET {_A}/register/passkey/begin", SignUpBegin, RegisterBegin, auth=API_KEY, row="M48",
    errors=_BEGIN_SIGN_UP_ERRORS,
    summary="Start a sign-up with a passkey",
    description="Returns the options for `navigator.credentials.create()`, for a new account with the email address in `identifier`. "
    "The account is created when you send the result to `POST /identity/v2/auth/register/passkey/finish`.",
)  # fmt: skip
finish_sign_up = operation(
    "passkeys.finish_sign_up", f"POST {_A}/register/passkey/finish", SignUpFinish, Registered, auth=API_KEY,
    heavy_work=HASHES_IN_BULK, row="M49", errors=(*REGISTRATION_ERRORS, *PASSKEY, errors.PasskeyNeedsEmail),
    summary="Finish a sign-up with a passkey",
    description="Creates an account with the new passkey and the fields of the sign-up form; it needs no password. `Data` is a "
    "session if the account can sign in at once, otherwise null.",
)  # fmt: skip
_BEGIN_SIGN_IN_ERRORS = (
    *EMAIL_SENDING, errors.PasskeysOff, errors.PasskeyMisconfigured, errors.NoPasskey, errors.PasskeyNeedsEmail, errors.UnknownAccount,
    errors.EmailUnverified,
    errors.TooManyRequests,
)  # fmt: skip
begin_sign_in = operation(
    "passkeys.begin_sign_in", f"GET {_A}/login/passkey/begin", SignInBegin, LoginBegin, auth=API_KEY, row="M50",
    errors=_BEGIN_SIGN_IN_ERRORS,
    summary="Start a sign-in with a passkey",
    description="Returns the options for `navigator.credentials.get()`, with the passkeys of the account that `identifier` names. "
    "Send the result to `POST /identity/v2/auth/login/passkey/finish`.",
)  # fmt: skip
finish_sign_in = operation(
    "passkeys.finish_sign_in", f"POST {_A}/login/passkey/finish", SignInFinish, FactorLogin, auth=API_KEY, row="M51",
    errors=(*SIGN_IN_ERRORS, *PASSKEY, errors.NoPasskey, errors.PasskeyNeedsEmail, errors.TooManyRequests),
    summary="Finish a sign-in with a passkey",
    description="Verifies the passkey and returns a session. A passkey that verified its user, by fingerprint, face or screen lock, "
    "counts as two factors, so no challenge follows.",
)  # fmt: skip
begin_autofill = operation(
    "passkeys.begin_autofill", f"GET {_A}/login/passkey/autofill/begin", AutofillBegin, LoginBegin, auth=API_KEY, row="M52",
    errors=(errors.PasskeysOff, errors.PasskeyAutofillOff, errors.PasskeyMisconfigured, errors.TooManyRequests),
    summary="Start passkey autofill",
    description="Returns the options for `navigator.credentials.get()` without naming an account, so that the browser offers passkeys "
    "in the email field (conditional mediation). Send the result to `POST "
    "/identity/v2/auth/login/passkey/autofill/finish`.",
)  # fmt: skip
finish_autofill = operation(
    "passkeys.finish_autofill", f"POST {_A}/login/passkey/autofill/finish", SignInFinish, FactorLogin, auth=API_KEY, row="M53",
    errors=(*SIGN_IN_ERRORS, *PASSKEY, errors.PasskeyAutofillOff, errors.NoPasskey, errors.TooManyRequests),
    summary="Finish passkey autofill",
    description="Verifies the passkey that was chosen in the browser and returns a session. The passkey’s user handle names the "
    "account.",
)  # fmt: skip
_FORGOT_ERRORS = (
    *CAPTCHA, errors.PasskeysOff, errors.NoPasskey, errors.PasskeyUrlRefused, errors.UnknownAccount, errors.MalformedEmail,
    errors.AccountBlocked, errors.MailLimitReached,
    errors.TooManyRequests,
)  # fmt: skip
forgot = operation(
    "passkeys.forgot", f"POST {_A}/passkey/forgot", ForgotPasskey, Posted, auth=API_KEY, row="M54", errors=_FORGOT_ERRORS,
    summary="Email a passkey reset link",
    description="Emails a link that replaces lost passkeys. The response is the same whether or not an account has the address.",
)  # fmt: skip
begin_reset = operation(
    "passkeys.begin_reset", f"GET {_A}/passkey/reset/begin", ResetBegin, RegisterBegin, auth=API_KEY, row="M55",
    errors=(*LINK, errors.PasskeysOff, errors.PasskeyMisconfigured, errors.AccountBlocked, errors.TooManyRequests),
    summary="Start replacing lost passkeys",
    description="Returns the options for `navigator.credentials.create()`, for the account of an emailed reset link. The link stays "
    "valid until the reset is finished.",
)  # fmt: skip
finish_reset = operation(
    "passkeys.finish_reset", f"POST {_A}/passkey/reset/finish", ResetFinish, Posted, auth=API_KEY, row="M56",
    errors=(*PASSKEY, *LINK, errors.AccountBlocked, errors.TooManyRequests),
    summary="Finish replacing lost passkeys",
    description="Replaces every passkey of the account with the new one. The reset link can’t be used again.",
)  # fmt: skip
