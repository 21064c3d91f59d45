"""Codes by mail as a second factor."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREDENTIALS, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_groups import ACCOUNT_EMAIL, EMAIL_CODE, LOCK_CHALLENGES, UID_ERRORS
from app.contract.profile import Profile
from app.contract.recovery.recovery_operations import Address
from app.contract.second_factors.account_factor_operations import WRITE, ManagedFactor
from app.contract.second_factors.challenge import TOKEN_ERRORS, ChallengeToken, Code, FactorLogin
from app.contract.second_factors.factor_sign_in_operations import ChallengeAnswer
from app.contract.shared_parameters import AccessTokenQuery, CaptchaSolution, FieldSelection, LockAnswers
from app.contract.shared_responses import Deleted, Posted
from app.kit.operations.wire import From

Query = From.QUERY
_LOGIN, _OWN = "/identity/v2/auth/login/2fa", "/identity/v2/auth/account/2fa"
_MANAGED = "/identity/v2/manage/account/2fa"
Template = Annotated[str | None, Query]


class SendEmailCode(ChallengeToken):
    """The address, in the clear or as the challenge masks it."""

    email_id: Address = None
    email: Address = None
    email_template_2fa: Template = Field(default=None, alias="emailtemplate2fa")
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")

    @property
    def to(self) -> str:
        return (self.email_id or self.email or "").strip()


class EmailVerification(ChallengeAnswer):
    """The address may be named as for the mail; where it is not, the newest code counts."""

    email_id: Address = None
    email: Address = None
    otp: Code = None

    @property
    def to(self) -> str | None:
        return self.email_id or self.email or None


class SendOwnEmailCode(AccessTokenQuery):
    """With an access token for its account, else for the account that has the address."""

    email_id: Annotated[str | None, Query, Field(max_length=320)] = None
    email_template_2fa: Template = Field(default=None, alias="emailtemplate2fa")


class OwnEmail(AccessTokenQuery, FieldSelection, CaptchaSolution, LockAnswers):
    email_id: Address = None
    otp: Code = None


mail_code = operation(
    "second_factors.mail_code", f"POST {_LOGIN}/email", SendEmailCode, Posted, auth=API_KEY, also=(f"{_LOGIN}/otp/email",), row="M07",
    errors=(*TOKEN_ERRORS, *ACCOUNT_EMAIL, errors.EmailFactorOff, errors.MailLimitReached),
    summary="Email a code for a challenge",
    description="Emails a code to one of the account’s addresses. Send the address as it is in the challenge, masked, or in full.",
)  # fmt: skip
with_email = operation(
    "second_factors.with_email", f"PUT {_LOGIN}/email", EmailVerification, FactorLogin, auth=API_KEY,
    also=(f"{_LOGIN}/verification/otp/email",),
    row="M08", errors=(*TOKEN_ERRORS, *EMAIL_CODE, *ACCOUNT_EMAIL, errors.WrongSmsCode, errors.EmailFactorOff),
    summary="Answer with an emailed code",
    description="Answers a challenge with an emailed code and returns the session. The first code also sets email up as a second "
    "factor.",
)  # fmt: skip
mail_own_code = operation(
    "second_factors.mail_own_code", f"GET {_OWN}/email", SendOwnEmailCode, Posted,
    auth=API_KEY & ACCESS_TOKEN | API_KEY, access=CREDENTIALS,
    also=(f"{_OWN}/otp/email",), row="M23", errors=(*ACCOUNT_EMAIL, errors.EmailFactorOff, errors.AccountBlocked, errors.MailLimitReached),
    summary="Email a code for the email factor",
    description="Emails a code to an address of the account, to set email up as a second factor or to confirm it. Without an access "
    "token, `emailid` names the account.",
)  # fmt: skip
_PROVE_EMAIL_ERRORS = (*LOCK_CHALLENGES, *EMAIL_CODE, *ACCOUNT_EMAIL, errors.EmailFactorOff, errors.WrongSmsCode)
prove_email = operation(
    "second_factors.prove_email", f"PUT {_OWN}/email", OwnEmail, Profile, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    also=(f"{_OWN}/verification/otp/email",), row="M24", errors=_PROVE_EMAIL_ERRORS,
    summary="Set up the email factor",
    description="Sets up email as a second factor with the code that was emailed.",
)  # fmt: skip
remove_email = operation(
    "second_factors.remove_email", f"DELETE {_OWN}/email", AccessTokenQuery, Deleted, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    also=(f"{_OWN}/authenticator/otp/email",), row="M33", errors=(errors.FactorRemovalRefused, errors.EmailFactorOff),
    summary="Remove the email factor",
    description="Removes email from the second factors of the signed-in account. The address stays in the profile.",
)  # fmt: skip
managed_remove_email = operation(
    "second_factors.managed_remove_email", f"DELETE {_MANAGED}/email", ManagedFactor, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=WRITE,
    also=(f"{_MANAGED}/authenticator/otp/email",), row="M40", errors=(*UID_ERRORS, errors.FactorRemovalRefused),
    summary="Remove an account’s email factor",
    description="Removes email from the second factors of an account. The address stays in the profile.",
)  # fmt: skip
