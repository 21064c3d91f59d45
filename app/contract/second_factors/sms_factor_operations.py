"""Codes by text message as a second factor."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREDENTIALS, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_groups import LOCK_CHALLENGES, SMS_CODE, SMS_SENDING, UID_ERRORS
from app.contract.profile import Profile
from app.contract.second_factors.account_factor_operations import WRITE, ManagedFactor
from app.contract.second_factors.challenge import TOKEN_ERRORS, ChallengeToken, Code, FactorLogin
from app.contract.second_factors.factor_sign_in_operations import ChallengeAnswer
from app.contract.shared_parameters import (
    AccessTokenQuery,
    CaptchaSolution,
    FieldSelection,
    LockAnswers,
    SuppressedMessages,
    WebhookSuppression,
)
from app.contract.shared_responses import Deleted, SmsSent
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Lower

Query = From.QUERY
_LOGIN, _OWN = "/identity/v2/auth/login/2fa", "/identity/v2/auth/account/2fa"
_MANAGED = "/identity/v2/manage/account/2fa"


class FactorSmsOptions(Lower):
    """The template of the SMS, or a voice call instead."""

    sms_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="smstemplate2fa")
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


class Number(FactorSmsOptions, SuppressedMessages):
    phone_no_2fa: Annotated[str | None, Field(max_length=64)] = Field(default=None, alias="phoneno2fa")


class SmsVerification(ChallengeAnswer):
    otp: Code = None
    sms_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="smstemplate2fa")


class SetNumberAtLogin(ChallengeToken, Number):
    """The number that receives codes, while no second factor is enrolled."""


class ResendSms(ChallengeToken, FactorSmsOptions):
    """Another code to the number of the challenge."""


class OwnSms(AccessTokenQuery, FieldSelection, WebhookSuppression, CaptchaSolution, LockAnswers):
    """The code verifies the number that was set last, which then replaces the previous one."""

    otp: Code = None


class OwnNumber(AccessTokenQuery, Number):
    """The number that receives codes once it is verified."""


OFF = (errors.SmsFactorOff, errors.NoPhoneRegistered)

with_sms = operation(
    "second_factors.with_sms", f"PUT {_LOGIN}/sms", SmsVerification, FactorLogin, auth=API_KEY,
    also=(f"{_LOGIN}/verification/otp",), row="M04",
    errors=(*TOKEN_ERRORS, *SMS_CODE, errors.SmsFactorOff, errors.FactorCodeMissing, errors.SmsFactorOffAtLogin),
    summary="Answer with a texted code",
    description="Answers a challenge with a texted code and returns the session. The first code also sets the number up as a second "
    "factor.",
)  # fmt: skip
set_number = operation(
    "second_factors.set_number", f"PUT {_LOGIN}/sms/phone", SetNumberAtLogin, SmsSent, auth=API_KEY, also=(_LOGIN,), row="M05",
    errors=(*TOKEN_ERRORS, *OFF, *SMS_SENDING, errors.MalformedPhone, errors.PhoneRegistered, errors.FactorPhoneFixed),
    summary="Set the phone number of a challenge",
    description="Sets the phone number of the text message factor during a sign-in and texts the first code. It works only while the "
    "account has no second factor.",
)  # fmt: skip
text_again = operation(
    "second_factors.text_again", f"GET {_LOGIN}/sms/resend", ResendSms, SmsSent, auth=API_KEY, also=(f"{_LOGIN}/resend",), row="M06",
    errors=(*TOKEN_ERRORS, *OFF, *SMS_SENDING),
    summary="Resend the texted code",
    description="Texts another code for a challenge. An earlier code stops working.",
)  # fmt: skip
prove_sms = operation(
    "second_factors.prove_sms", f"PUT {_OWN}/sms", OwnSms, Profile, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    also=(f"{_OWN}/verification/otp",), accepts=Accept.JSON, row="M21", errors=(*OFF, *LOCK_CHALLENGES, *SMS_CODE),
    summary="Set up the text message factor",
    description="Sets up the phone number as a second factor with the code that was texted to it.",
)  # fmt: skip
set_own_number = operation(
    "second_factors.set_own_number", f"PUT {_OWN}/sms/phone", OwnNumber, SmsSent, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, also=(_OWN,), row="M22", errors=(*OFF, *SMS_SENDING, errors.MalformedPhone, errors.PhoneRegistered),
    summary="Set the phone number of the factor",
    description="Sets the phone number of the text message factor and texts the first code. Verify it with `PUT "
    "/identity/v2/auth/account/2fa/sms`.",
)  # fmt: skip
remove_sms = operation(
    "second_factors.remove_sms", f"DELETE {_OWN}/sms", AccessTokenQuery, Deleted, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, row="M32", errors=(errors.NoPhoneRegistered,),
    summary="Remove the text message factor",
    description="Removes the phone number from the second factors of the signed-in account. The number stays in the profile.",
)  # fmt: skip
managed_remove_sms = operation(
    "second_factors.managed_remove_sms", f"DELETE {_MANAGED}/sms", ManagedFactor, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=WRITE, row="M42", errors=(*UID_ERRORS, errors.NoPhoneRegistered),
    summary="Remove an account’s text message factor",
    description="Removes the phone number from the second factors of an account. The number stays in the profile.",
)  # fmt: skip
