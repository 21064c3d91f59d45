"""Second factors of an account, by its access token or its id."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREDENTIALS, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_groups import LOCK_CHALLENGES, UID_ERRORS
from app.contract.profile import Profile
from app.contract.second_factors.challenge import DUO_REDIRECT, AuthenticatorCode, Factors
from app.contract.shared_parameters import (
    AccessTokenQuery,
    CaptchaSolution,
    FieldSelection,
    LockAnswers,
    WebhookSuppression,
)
from app.contract.shared_responses import Deleted
from app.kit.operations.wire import From, Lower, Wire

Query = From.QUERY
_OWN, _MANAGED = "/identity/v2/auth/account/2fa", "/identity/v2/manage/account/2fa"
READ, WRITE, CREATE_CODES = "profile:read", "profile:update", "backupcode:create"


class OwnFactorsRead(AccessTokenQuery):
    """The template of the SMS that this operation sends, and the redirect address of Duo."""

    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")
    sms_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="smstemplate2fa")
    duo_redirect_uri: Annotated[str | None, Query] = Field(default=None, alias="duoredirecturi")


class OwnFactors(Factors):
    """The account's second factors. `IsSecurityQuestionEnabled` is an older name of `IsSecurityQuestionAuthenticatorVerified`."""

    is_security_question_enabled: bool = False


class ManagedFactor(Lower):
    """The account by its id, in the query."""

    uid: Annotated[str, Query]


class OwnTotp(AccessTokenQuery, FieldSelection, WebhookSuppression, CaptchaSolution, LockAnswers, AuthenticatorCode):
    """The first code enrols the authenticator app; a later one is only verified."""

    sms_template: Annotated[str | None, Query] = None


class LegacyRemoval(AccessTokenQuery):
    """The authenticator to remove."""

    authenticator: bool = False
    otp_authenticator: bool = False


class LegacyManagedRemoval(ManagedFactor):
    authenticator: bool = False
    otp_authenticator: bool = False


class BackupCodes(Wire):
    back_up_codes: list[str]


read = operation(
    "second_factors.read", f"GET {_OWN}", OwnFactorsRead, OwnFactors, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS, row="M19",
    errors=(*DUO_REDIRECT, errors.TwoFactorOff, errors.NoTwoFactorMethod),
    summary="Get own second factors",
    description="Returns which second factors the signed-in account has, and what an authenticator app needs to be set up: a QR code "
    "and a key to type. With text message as its factor, nothing is sent.",
)  # fmt: skip
_PROVE_TOTP_ERRORS = (
    *LOCK_CHALLENGES, errors.TwoFactorOff, errors.TotpNotEnrolled, errors.WrongTotpCode, errors.FactorCodeMissing, errors.TotpOff,
)  # fmt: skip
prove_totp = operation(
    "second_factors.prove_totp", f"PUT {_OWN}/totp", OwnTotp, Profile, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    also=(f"{_OWN}/verification/authenticatorcode", f"{_OWN}/verification/googleauthenticatorcode"), row="M20", errors=_PROVE_TOTP_ERRORS,
    summary="Set up an authenticator app",
    description="Sets up the authenticator app that scanned the QR code of `GET /identity/v2/auth/account/2fa`, with the first code "
    "it shows.",
)  # fmt: skip
make_backup_codes = operation(
    "second_factors.make_backup_codes", f"GET {_OWN}/backupcode", AccessTokenQuery, BackupCodes,
    auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS, row="M27", errors=(errors.BackupCodesMade, errors.NoSecondFactor),
    summary="Create backup codes",
    description="Creates ten backup codes and returns them once. If the account has codes already, use `GET "
    "/identity/v2/auth/account/2fa/backupcode/reset`.",
)  # fmt: skip
renew_backup_codes = operation(
    "second_factors.renew_backup_codes", f"GET {_OWN}/backupcode/reset", AccessTokenQuery, BackupCodes,
    auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS, row="M28", errors=(errors.NoSecondFactor, errors.NoBackupCodes),
    summary="Replace backup codes",
    description="Creates ten new backup codes and returns them once. The old ones stop working.",
)  # fmt: skip
remove_totp = operation(
    "second_factors.remove_totp", f"DELETE {_OWN}/totp", AccessTokenQuery, Deleted, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, row="M31", errors=(errors.TotpNotEnrolled,),
    summary="Remove the authenticator app",
    description="Removes the authenticator app from the signed-in account. If it was the last second factor, the backup codes are "
    "deleted too.",
)  # fmt: skip
remove_older = operation(
    "second_factors.remove_older", f"DELETE {_OWN}/authenticator", LegacyRemoval, Deleted, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, row="M31", errors=(errors.FactorRemovalRefused, errors.TotpNotEnrolled, errors.NoPhoneRegistered),
    summary="Remove the app or the phone factor",
    description="Removes the authenticator app (`authenticator`) or the text message factor (`otpauthenticator`) from the signed-in "
    "account. Existing clients call it; use `…/2fa/totp` or `…/2fa/sms` in new ones.",
)  # fmt: skip

managed_read = operation(
    "second_factors.managed_read", f"GET {_MANAGED}", ManagedFactor, OwnFactors,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=READ, row="M47", errors=UID_ERRORS,
    summary="Get an account’s second factors",
    description="Returns which second factors an account has, without secrets such as QR codes.",
)  # fmt: skip
managed_make_backup_codes = operation(
    "second_factors.managed_make_backup_codes", f"GET {_MANAGED}/backupcode", ManagedFactor, BackupCodes,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope=CREATE_CODES, row="M45", errors=(*UID_ERRORS, errors.BackupCodesMade, errors.NoSecondFactor),
    summary="Create an account’s backup codes",
    description="Creates ten backup codes for an account and returns them once, for example for someone who lost a phone and calls "
    "your support desk.",
)  # fmt: skip
managed_renew_backup_codes = operation(
    "second_factors.managed_renew_backup_codes", f"GET {_MANAGED}/backupcode/reset", ManagedFactor, BackupCodes,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=CREATE_CODES, row="M46", errors=(*UID_ERRORS, errors.NoSecondFactor),
    summary="Replace an account’s backup codes",
    description="Creates ten new backup codes for an account and returns them once. The old ones stop working.",
)  # fmt: skip
managed_remove_totp = operation(
    "second_factors.managed_remove_totp", f"DELETE {_MANAGED}/totp", ManagedFactor, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=WRITE, row="M41", errors=(*UID_ERRORS, errors.TotpNotEnrolled),
    summary="Remove an account’s authenticator app",
    description="Removes the authenticator app of an account. At the next sign-in it sets up a new one if a second factor is "
    "required.",
)  # fmt: skip
managed_remove_older = operation(
    "second_factors.managed_remove_older", f"DELETE {_MANAGED}/authenticator", LegacyManagedRemoval, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=WRITE,
    row="M41", errors=(*UID_ERRORS, errors.FactorRemovalRefused, errors.TotpNotEnrolled, errors.NoPhoneRegistered),
    summary="Remove an account’s app or phone factor",
    description="Removes the authenticator app (`authenticator`) or the text message factor (`otpauthenticator`) of an account. "
    "Existing clients call it; use `…/2fa/totp` or `…/2fa/sms` in new ones.",
)  # fmt: skip
