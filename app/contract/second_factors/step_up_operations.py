"""Step-up: the account authenticates again, and a program checks the validation token."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, MACHINE_TOKEN, WRITE
from app.contract.catalogue import HASHES, operation
from app.contract.error_groups import (
    ACCOUNT_EMAIL,
    DIRECTORY,
    EMAIL_CODE,
    LOCK_CHALLENGES,
    SMS_CODE,
    SMS_SENDING,
    UID_ERRORS,
)
from app.contract.pins.pin_operations import Pin
from app.contract.recovery.recovery_operations import Address
from app.contract.second_factors.account_factor_operations import OwnFactorsRead
from app.contract.second_factors.challenge import DUO_REDIRECT, AuthenticatorCode, Challenge, Code
from app.contract.second_factors.duo_operations import DUO_ERRORS, DuoCallback
from app.contract.second_factors.security_question_operations import Answers
from app.contract.shared_parameters import AccessTokenQuery, CaptchaSolution, LockAnswers, Uid, WebhookSuppression
from app.contract.shared_responses import Posted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire

Query = From.QUERY
Template = Annotated[str | None, Query, Field(max_length=100)]
_OWN, _MANAGED = "/identity/v2/auth/account/reauth", "/identity/v2/manage/account/{uid}/reauth"


class StepUpMethod(StrEnum):
    """The method of a step-up; each has its own operation that checks the validation token."""

    FACTOR = "2fa"  # and an emailed code
    PASSWORD = "password"
    PIN = "pin"


class ValidationToken(Wire):
    """A token that proves a step-up. It works once, for its account and method."""

    second_factor_validation_token: str
    expire_in: str


class StepUpByApp(AccessTokenQuery, WebhookSuppression, CaptchaSolution, LockAnswers, AuthenticatorCode):
    """The code of an authenticator app, under either of its names."""


class StepUpBySms(AccessTokenQuery, WebhookSuppression, CaptchaSolution, LockAnswers):
    otp: Code = None
    sms_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="smstemplate2fa")


class StepUpByBackupCode(AccessTokenQuery, WebhookSuppression, CaptchaSolution, LockAnswers):
    backup_code: Code = None


class SendFactorEmail(AccessTokenQuery):
    email_id: Annotated[str | None, Query, Field(max_length=320)] = None
    email_template_2fa: Template = Field(default=None, alias="emailtemplate2fa")


class StepUpByEmail(AccessTokenQuery, WebhookSuppression, CaptchaSolution, LockAnswers):
    """`emailid` and `otp` are required."""

    email_id: Address = None
    otp: Code = None


class StepUpByDuo(AccessTokenQuery, WebhookSuppression, DuoCallback):
    """Duo's redirect parameters."""


class StepUpByAnswers(AccessTokenQuery, WebhookSuppression, Answers):
    pass


class StepUpByPassword(AccessTokenQuery, WebhookSuppression, CaptchaSolution, LockAnswers):
    password: Annotated[str | None, Field(max_length=1024)] = None
    sms_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="smstemplate2fa")


class StepUpByPin(AccessTokenQuery, WebhookSuppression, CaptchaSolution, LockAnswers):
    pin: Pin = None
    sms_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="smstemplate2fa")


class SendStepUpEmail(AccessTokenQuery):
    email_id: Annotated[str | None, Query, Field(max_length=320)] = None
    email_template: Template = None


class CheckValidationToken(Uid):
    second_factor_validation_token: str = Field(max_length=500)


class TokenIsValid(Wire):
    is_valid: bool


_FACTOR = (*LOCK_CHALLENGES, errors.StepUpOff)

begin = operation(
    "step_up.begin", f"GET {_OWN}/2fa", OwnFactorsRead, Challenge, auth=API_KEY & ACCESS_TOKEN, access=WRITE, row="M63",
    errors=(*DUO_REDIRECT, *SMS_SENDING, errors.NoSecondFactor, errors.StepUpOff),
    summary="Start a step-up with a second factor",
    description="Returns the second factors of the signed-in account, and sends the code if its factor is a text message or an email. "
    "Use it before something sensitive, then verify with the operation of the factor.",
)  # fmt: skip
_WITH_APP_ERRORS = (*_FACTOR, errors.TotpOff, errors.TotpNotEnrolled, errors.WrongTotpCode, errors.StepUpCodeMissing)
with_app = operation(
    "step_up.with_app", f"PUT {_OWN}/2fa/authenticatorcode", StepUpByApp, ValidationToken, auth=API_KEY & ACCESS_TOKEN, access=WRITE,
    also=(f"{_OWN}/2fa/googleauthenticatorcode",), row="M64", errors=_WITH_APP_ERRORS,
    summary="Step up with an authenticator code",
    description="Verifies the code of an authenticator app and returns a validation token. Your server checks the token with `POST "
    "/identity/v2/manage/account/{uid}/reauth/2fa`.",
)  # fmt: skip
with_sms = operation(
    "step_up.with_sms", f"PUT {_OWN}/2fa/otp", StepUpBySms, ValidationToken, auth=API_KEY & ACCESS_TOKEN, access=WRITE, row="M65",
    errors=(*_FACTOR, *SMS_CODE, errors.SmsFactorOff, errors.NoPhoneRegistered, errors.StepUpCodeMissing),
    summary="Step up with a texted code",
    description="Verifies a texted code and returns a validation token for your server to check.",
)  # fmt: skip
with_backup_code = operation(
    "step_up.with_backup_code", f"PUT {_OWN}/2fa/backupcode", StepUpByBackupCode, ValidationToken,
    auth=API_KEY & ACCESS_TOKEN, access=WRITE, row="M66",
    errors=(*_FACTOR, errors.NoBackupCodes, errors.WrongBackupCode, errors.StepUpCodeMissing),
    summary="Step up with a backup code",
    description="Verifies a backup code, which works once, and returns a validation token for your server to check.",
)  # fmt: skip
mail_factor_code = operation(
    "step_up.mail_factor_code", f"GET {_OWN}/2fa/otp/email", SendFactorEmail, Posted, auth=API_KEY & ACCESS_TOKEN, access=WRITE, row="M67",
    errors=(*ACCOUNT_EMAIL, errors.StepUpOff, errors.EmailFactorOff, errors.MailLimitReached),
    summary="Email a step-up code for the email factor",
    description="Emails a code to an address that is a second factor of the signed-in account.",
)  # fmt: skip
with_factor_mail = operation(
    "step_up.with_factor_mail", f"PUT {_OWN}/2fa/otp/email/verify", StepUpByEmail, ValidationToken,
    auth=API_KEY & ACCESS_TOKEN, access=WRITE,
    accepts=Accept.JSON, row="M68", errors=(*_FACTOR, *EMAIL_CODE, *ACCOUNT_EMAIL, errors.WrongSmsCode, errors.EmailFactorOff),
    summary="Step up with a code of the email factor",
    description="Verifies a code that was emailed to the account’s second factor and returns a validation token for your server to "
    "check.",
)  # fmt: skip
with_duo = operation(
    "step_up.with_duo", f"PUT {_OWN}/2fa/duo", StepUpByDuo, ValidationToken, auth=API_KEY & ACCESS_TOKEN, access=WRITE, row="M70",
    errors=(*_FACTOR, *DUO_ERRORS),
    summary="Step up with Duo",
    description="Verifies the result of a Duo prompt and returns a validation token for your server to check.",
)  # fmt: skip
with_answers = operation(
    "step_up.with_answers", f"POST {_OWN}/2fa/securityquestionanswer/verify", StepUpByAnswers, ValidationToken,
    auth=API_KEY & ACCESS_TOKEN, access=WRITE,
    heavy_work=HASHES, row="M69", errors=(*_FACTOR, errors.QuestionFactorOff, errors.QuestionFactorNotEnrolled, errors.TooFewAnswers),
    summary="Step up with security answers",
    description="Verifies the answers to the account’s security questions and returns a validation token for your server to check.",
)  # fmt: skip
with_password = operation(
    "step_up.with_password", f"PUT {_OWN}/password", StepUpByPassword, ValidationToken, auth=API_KEY & ACCESS_TOKEN,
    access=WRITE, heavy_work=HASHES, row="M71", errors=(*LOCK_CHALLENGES, *DIRECTORY, errors.WrongStepUpPassword),
    summary="Step up with the password",
    description="Verifies the password of the signed-in account and returns a validation token. Your server checks the token with "
    "`POST /identity/v2/manage/account/{uid}/reauth/password`.",
)  # fmt: skip
with_pin = operation(
    "step_up.with_pin", f"PUT {_OWN}/pin", StepUpByPin, ValidationToken, auth=API_KEY & ACCESS_TOKEN, access=WRITE,
    heavy_work=HASHES, row="M72", errors=(*LOCK_CHALLENGES, errors.PinOff, errors.NoPin, errors.WrongPin),
    summary="Step up with the PIN",
    description="Verifies the PIN of the signed-in account and returns a validation token. Your server checks the token with `POST "
    "/identity/v2/manage/account/{uid}/reauth/pin`.",
)  # fmt: skip
mail_code = operation(
    "step_up.mail_code", f"GET {_OWN}/otp/email", SendStepUpEmail, Posted, auth=API_KEY & ACCESS_TOKEN, access=WRITE, row="M73",
    errors=(*ACCOUNT_EMAIL, errors.MailLimitReached),
    summary="Email a step-up code",
    description="Emails a code to an address of the signed-in account. It needs no second factor.",
)  # fmt: skip
with_mail = operation(
    "step_up.with_mail", f"PUT {_OWN}/otp/email", StepUpByEmail, ValidationToken, auth=API_KEY & ACCESS_TOKEN, access=WRITE, row="M74",
    errors=(*LOCK_CHALLENGES, *EMAIL_CODE, *ACCOUNT_EMAIL),
    summary="Step up with an emailed code",
    description="Verifies an emailed code and returns a validation token for your server to check.",
)  # fmt: skip

check_factor = operation(
    "step_up.check_factor", f"POST {_MANAGED}/2fa", CheckValidationToken, TokenIsValid,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:read", row="M75",
    errors=(*UID_ERRORS, errors.WrongValidationToken),
    summary="Check a step-up with a second factor or email",
    description="Tells whether a validation token of a step-up with a second factor or an emailed code is valid for the account. The "
    "token works once, for 5 minutes.",
)  # fmt: skip
check_password = operation(
    "step_up.check_password", f"POST {_MANAGED}/password", CheckValidationToken, TokenIsValid,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:read",
    row="M76", errors=(*UID_ERRORS, errors.WrongValidationToken),
    summary="Check a step-up with the password",
    description="Tells whether a validation token of a step-up with the password is valid for the account. The token works once, for "
    "5 minutes.",
)  # fmt: skip
check_pin = operation(
    "step_up.check_pin", f"POST {_MANAGED}/pin", CheckValidationToken, TokenIsValid,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:read", accepts=Accept.JSON, row="M77", errors=UID_ERRORS,
    summary="Check a step-up with the PIN",
    description="Tells whether a validation token of a step-up with the PIN is valid for the account. The token works once, for 5 "
    "minutes.",
)  # fmt: skip
